import RegentPairing

/// Remembers denied authorizations, so that an app in a loop does not send requests without end.
///
/// After several denials the enabler refuses by itself. Once a second it still asks the service whether the viewer may
/// watch the resource now, so that a viewer who has just bought the resource does not wait. For this probe the service
/// stores no decision and no audit line.
struct DenialLog: Hashable, Sendable {
  /// After this many denials of one resource within ``span``, the enabler refuses without an authorization request.
  static let most = 5
  static let span = Duration.seconds(60)
  static let probeInterval = Duration.seconds(1)
  /// The maximum number of denied resources to remember.
  ///
  /// A viewer cannot be denied more of them in a minute.
  private static let mostResources = 256

  private struct Entry: Hashable, Sendable {
    var denials: [Instant] = []
    /// The service's reason for the last denial, which the enabler's own refusal repeats.
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

  /// The enabler's own refusal of a resource; nil unless the service has denied the resource too often.
  func refusal(of resource: String, at now: Instant) -> (code: EntitlementCode, error: EntitlementError)? {
    guard let entry = denied[resource], recent(resource, at: now).count >= Self.most else { return nil }
    var error = entry.reason
    error.status = .deniedRepeatedly
    return (entry.code, error)
  }

  /// Whether the enabler may now ask the service once more about a resource that was denied too often.
  ///
  /// If so, the next such probe must wait for ``probeInterval``.
  mutating func takeProbe(_ resource: String, at now: Instant) -> Bool {
    if let last = denied[resource]?.probed, last <= now, now.since(last) < Self.probeInterval { return false }
    denied[resource]?.probed = now
    return true
  }

  private func recent(_ resource: String, at now: Instant) -> [Instant] {
    (denied[resource]?.denials ?? []).filter { $0 <= now && now.since($0) < Self.span }
  }
}
