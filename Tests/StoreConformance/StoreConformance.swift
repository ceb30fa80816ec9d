// StoreConformance: what every store must do, as checks that each get an empty store and throw when it does not keep
// its promise. Owns the list of promises; the contract itself is PairingStore's, and Tests/StoreConformanceTests runs
// the list on each store there is. `import Testing` stays in the test targets.
public import PairingStore

/// What every store must do, as checks that throw when it does not.
///
/// Each check gets an empty store of its own. A test target runs them all against each store:
///
///     @Test(arguments: StoreConformance.checks)
///     func `the store in memory keeps the contract`(check: ConformanceCheck) async throws {
///       try await check.run(on: MemoryStore())
///     }
public enum StoreConformance {
  public static let checks: [ConformanceCheck] =
    codeChecks + approvalChecks + raceChecks + togetherChecks + tokenChecks + filterChecks + passChecks
    + sessionChecks + provisioningChecks + keyChecks + grantChecks + newClientChecks + platformChecks + enrolmentChecks
    + upkeepChecks
    + nodeChecks
}

/// One promise of the contract and how to try it.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
  /// The promise, as a sentence.
  public let promise: String
  private let body: @Sendable (ConformanceFixture) async throws -> Void

  init(_ promise: String, _ body: @escaping @Sendable (ConformanceFixture) async throws -> Void) {
    self.promise = promise
    self.body = body
  }

  /// The promise, for test reports.
  public var description: String { promise }

  /// Tries the promise on an empty store; `other` is another node's handle on the same one.
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

/// A promise that a store did not keep.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// What was promised.
  public var promise: String = ""
  /// What was found instead.
  public let finding: String
  /// Where in the checks.
  public let line: Int

  /// Promise and finding.
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
