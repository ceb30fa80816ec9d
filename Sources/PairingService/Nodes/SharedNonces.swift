internal import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Tells the other nodes which nonces were used here: a moment later, many at once.
///
/// For that moment, and for as long as the store is away, a header that was sent to several nodes counts at each.
final class SharedNonces: Sendable {
  /// How long the first of them waits for others.
  private static let span: Duration = .milliseconds(2)
  /// More in one such moment are not told: 16 MiB.
  private static let most = 262_144
  private let store: any NodeStore
  private let log: ServiceLog
  private let due = Locked<[UsedNonce]>([])

  init(_ store: any NodeStore, log: ServiceLog) {
    self.store = store
    self.log = log
  }

  func add(_ nonce: UsedNonce) {
    let isFirst = due.withLock { due in
      guard due.count < Self.most else { return false }
      due.append(nonce)
      return due.count == 1
    }
    guard isFirst else { return }
    Task {
      try? await Task.sleep(for: Self.span)
      await tell()
    }
  }

  private func tell() async {
    let told = due.withLock { due in
      defer { due = [] }
      return due
    }
    do throws(StoreError) {
      try await store.share(told)
    } catch {
      log.warning("nonces-untold", ("count", "\(told.count)"), ("reason", "\(error)"))
    }
  }
}

/// The nonces of one key that calls at other nodes have used.
///
/// When there is no room the oldest second goes, and what was signed in it is refused from then on: a header that was
/// forgotten could be used again.
struct NoncesElsewhere: Sendable {
  private let capacity: Int
  private var seconds: [Int64: Set<UInt64>] = [:]
  private var count = 0
  /// What was signed earlier is refused.
  private var floor = Int64.min

  init(capacity: Int) { self.capacity = capacity }

  var isEmpty: Bool { count == 0 }

  func check(_ second: Int64, _ mark: UInt64) throws(SignatureRefusal) {
    guard second >= floor else { throw .outsideWindow }
    if seconds[second]?.contains(mark) == true { throw .replayed }
  }

  mutating func add(_ second: Int64, _ mark: UInt64) {
    guard second >= floor, seconds[second, default: []].insert(mark).inserted else { return }
    count += 1
    while count > capacity, let oldest = seconds.keys.min() {
      count -= seconds.removeValue(forKey: oldest)?.count ?? 0
      floor = oldest + 1
    }
  }

  /// Lets go of what is refused for its time anyway.
  mutating func sweep(before second: Int64) {
    for old in seconds.keys where old < second { count -= seconds.removeValue(forKey: old)?.count ?? 0 }
  }
}
