public import RegentPairing

/// The effect of one more decision on the stored decisions of a box.
///
/// Of two decisions about the same app, the later one wins.
public struct PermissionChange: Hashable, Sendable {
  /// The decision to write.
  public let kept: PlatformPermissionRecord
  /// The stored record to delete when the box has reached its limit: the oldest one without a decision.
  public let forgotten: PlatformPermissionRecord?
  /// Whether the viewer's answer differs from the stored one.
  ///
  /// Only then is an audit line written.
  public let isNew: Bool

  /// Returns nil when the stored decision wins.
  ///
  /// - Throws: `notFound` when the limit is reached and no record can be deleted.
  public init?(
    _ decision: PlatformPermissionRecord, among there: [PlatformPermissionRecord], at now: Instant
  ) throws(StoreError) {
    kept = decision
    if let known = there.first(where: decision.isAboutTheSame) {
      guard decision.holds(over: known, at: now) else { return nil }
      forgotten = nil
      isNew = known.isGranted != decision.isGranted
      return
    }
    isNew = true
    guard there.count >= PlatformPermissionRecord.mostOfBox else {
      forgotten = nil
      return
    }
    // A mere question deletes no record. Otherwise a hostile app that asks under many names would empty the list.
    let undecided = there.filter { $0.isGranted == nil }.min { $0.decided < $1.decided }
    guard let undecided, decision.isGranted != nil else { throw .notFound(what: "room for the decision") }
    forgotten = undecided
  }
}
