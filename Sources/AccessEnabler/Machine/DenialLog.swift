import RegentPairing

/// Remembers denials, so that an app in a loop does not ask for ever.
///
/// A viewer who has just bought the resource is not kept waiting: once a second the enabler asks the service whether
/// it may be watched now, which costs the service no decision and no audit line.
struct DenialLog: Hashable, Sendable {
  /// So many denials of one resource within the span, and the service is not asked for it any more.
  static let most = 5
  static let span = Duration.seconds(60)
  static let probeInterval = Duration.seconds(1)
  /// More resources than one viewer is denied in a minute.
  private static let mostResources = 256

  private struct Entry: Hashable, Sendable {
    var denials: [Instant] = []
    /// What the service said last; the enabler's own refusal repeats it.
    var reason: EntitlementError
    var code: EntitlementCode
    var probed: Instant?
  }

  private var denied: [String: Entry] = [:]

  mutating func note(_ resource: String, _ code: EntitlementCode, _ reason: EntitlementError, at now: Instant) {
    if denied[resource] == nil, denied.count >= Self.mostResources { denied = [:] }
    let recent = recent(resource, at: now) + [now]
    denied[resource] = Entry(denials: recent, reason: reason, code: code, probed: denied[resource]?.probed)
  }

  mutating func forget(_ resource: String) { denied[resource] = nil }

  /// The enabler's own refusal, when the resource was denied too often.
  func refusal(of resource: String, at now: Instant) -> (code: EntitlementCode, error: EntitlementError)? {
    guard let entry = denied[resource], recent(resource, at: now).count >= Self.most else { return nil }
    var error = entry.reason
    error.status = .deniedRepeatedly
    return (entry.code, error)
  }

  /// Whether the service may be asked now if the resource may be watched; then the next question has to wait.
  mutating func takeProbe(_ resource: String, at now: Instant) -> Bool {
    if let last = denied[resource]?.probed, last <= now, now.since(last) < Self.probeInterval { return false }
    denied[resource]?.probed = now
    return true
  }

  private func recent(_ resource: String, at now: Instant) -> [Instant] {
    (denied[resource]?.denials ?? []).filter { $0 <= now && now.since($0) < Self.span }
  }
}
