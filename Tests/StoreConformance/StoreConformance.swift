// StoreConformance: the contract of every store, as checks that each get an empty store and throw when it breaks a
// promise. This target owns the list of checks. PairingStore defines the contract, and Tests/StoreConformanceTests
// runs the list on each store. `import Testing` stays in the test targets.
public import PairingStore

/// The contract of every store, as checks that throw when a store breaks it.
///
/// Each check gets an empty store of its own. A test target runs all checks on each store:
///
///     @Test(arguments: StoreConformance.checks)
///     func `the memory store passes each conformance check`(check: ConformanceCheck) async throws {
///       try await check.run(on: MemoryStore())
///     }
public enum StoreConformance {
  public static let checks: [ConformanceCheck] =
    codeChecks + approvalChecks + raceChecks + togetherChecks + tokenChecks + filterChecks + passChecks
    + sessionChecks + provisioningChecks + keyChecks + grantChecks + newClientChecks + platformChecks + enrolmentChecks
    + upkeepChecks + erasureChecks
    + nodeChecks
}

/// A promise of the store contract, and the code that checks it.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
  /// The promise as a sentence, which test reports show.
  public let promise: String
  private let body: @Sendable (ConformanceFixture) async throws -> Void

  init(_ promise: String, _ body: @escaping @Sendable (ConformanceFixture) async throws -> Void) {
    self.promise = promise
    self.body = body
  }

  public var description: String { promise }

  /// Checks the promise on an empty store.
  ///
  /// `other` is a second handle on the same database, as another node has it.
  public func run(on store: any Store, beside other: (any Store)? = nil) async throws {
    do {
      try await body(try await ConformanceFixture(store, beside: other))
    } catch let failure as ConformanceFailure {
      throw ConformanceFailure(promise: promise, finding: failure.finding, line: failure.line)
    } catch {
      throw ConformanceFailure(promise: promise, finding: "threw \(error)", line: 0)
    }
  }
}

/// Says which promise a store broke, what was found instead, and in which line of the checks.
public struct ConformanceFailure: Error, CustomStringConvertible {
  public var promise: String = ""
  public let finding: String
  public let line: Int

  public var description: String { "\(promise): \(finding) (line \(line))" }
}

func expect(_ holds: Bool, _ finding: String, line: Int = #line) throws {
  guard holds else { throw ConformanceFailure(finding: finding, line: line) }
}

func found<Value>(_ value: Value?, _ what: String, line: Int = #line) throws -> Value {
  guard let value else { throw ConformanceFailure(finding: "no \(what)", line: line) }
  return value
}

func expect<Value>(
  _ expected: StoreError, line: Int = #line, _ body: () async throws -> Value
) async throws {
  let value: Value
  do {
    value = try await body()
  } catch let error as StoreError {
    return try expect(error == expected, "threw \(error) instead of \(expected)", line: line)
  }
  throw ConformanceFailure(finding: "gave \(value) instead of \(expected)", line: line)
}
