import RegentPairing

/// Remembers denied authorizations, so that an app in a loop does not send requests without end.
///
/// After several denials the enabler refuses by itself. Once a second it still asks the service whether the resource
/// may be watched now, so that a viewer who has just bought it does not wait. This probe makes the service write no
/// decision and no audit line.
struct DenialLog: Hashable, Sendable {
  /// After this many denials of one resource within ``span``, the enabler refuses without an authorization request.
  static let most = 5
  static let span = Duration.seconds(60)
  static let probeInterval = Duration.seconds(1)
  /// The maximum number of resources to remember, more than a viewer can be denied in a minute.
  private static let mostResources = 256

  private struct Entry: Hashable, Sendable {
    var denials: [Instant] = []
    /// The service's last reason.
    ///
    /// The enabler's own refusal repeats it.
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

  /// The enabler's own refusal; nil unless the resource was denied too often.
  func refusal(of resource: String, at now: Instant) -> (code: EntitlementCode, error: EntitlementError)? {
    guard let entry = denied[resource], recent(resource, at: now).count >= Self.most else { return nil }
    var error = entry.reason
    error.status = .deniedRepeatedly
    return (entry.code, error)
  }

  /// Whether the enabler may probe the service now.
  ///
  /// If so, the next probe must wait for ``probeInterval``.
  mutating func takeProbe(_ resource: String, at now: Instant) -> Bool {
    if let last = denied[resource]?.probed, last <= now, now.since(last) < Self.probeInterval { return false }
    denied[resource]?.probed = now
    return true
  }

  private func recent(_ resource: String, at now: Instant) -> [Instant] {
    (denied[resource]?.denials ?? []).filter { $0 <= now && now.since($0) < Self.span }
  }
}
