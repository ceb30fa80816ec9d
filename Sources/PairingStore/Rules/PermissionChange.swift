public import RegentPairing

/// The effect of a viewer's new decision about an app on the stored decisions of the box.
///
/// Of two decisions about the same app, the later one wins.
public struct PermissionChange: Hashable, Sendable {
  /// The decision to store.
  public let kept: PlatformPermissionRecord
  /// The stored record to delete because the box has reached its limit: the oldest one that holds no decision.
  public let forgotten: PlatformPermissionRecord?
  /// Whether the viewer's decision differs from the stored one.
  ///
  /// Only then is an audit line written.
  public let isNew: Bool

  /// Computes the effect of a decision; nil when the stored decision wins.
  ///
  /// - Throws: `notFound` when the box has reached its limit and no record can be deleted.
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
    // An app that only asks deletes no record. Otherwise a hostile app that asks under many names would empty the list.
    let undecided = there.filter { $0.isGranted == nil }.min { $0.decided < $1.decided }
    guard let undecided, decision.isGranted != nil else { throw .notFound(what: "room for the decision") }
    forgotten = undecided
  }
}
