public import RegentPairing

/// What becomes of the decisions of a box when one more is told: of two about the same app the later one holds.
public struct PermissionChange: Hashable, Sendable {
  /// What is written.
  public let kept: PlatformPermissionRecord
  /// What makes room for it: about an app that nobody has decided about, the one that was so first.
  public let forgotten: PlatformPermissionRecord?
  /// Whether it says something else than what was there: only then it is a line of the audit log.
  public let isNew: Bool

  /// Nothing when a decision that is there holds.
  ///
  /// - Throws: `notFound` when there is no room.
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
    // A question drives nothing out: whoever makes apps ask would empty the list otherwise.
    let undecided = there.filter { $0.isGranted == nil }.min { $0.decided < $1.decided }
    guard let undecided, decision.isGranted != nil else { throw .notFound(what: "room for the decision") }
    forgotten = undecided
  }
}
