import RegentPairing

/// Remembers denials, so that an app in a loop does not ask for ever.
struct DenialLog: Hashable, Sendable {
  /// So many denials of one resource within the span, and the service is not asked any more.
  static let most = 5
  static let span = Duration.seconds(60)
  /// More resources than anybody is denied in a minute.
  private static let mostResources = 256

  private var denied: [String: [Instant]] = [:]

  mutating func note(_ resource: String, at now: Instant) {
    if denied[resource] == nil, denied.count >= Self.mostResources { denied = [:] }
    denied[resource] = recent(resource, at: now) + [now]
  }

  mutating func forget(_ resource: String) { denied[resource] = nil }

  func isExhausted(_ resource: String, at now: Instant) -> Bool {
    recent(resource, at: now).count >= Self.most
  }

  private func recent(_ resource: String, at now: Instant) -> [Instant] {
    (denied[resource] ?? []).filter { $0 <= now && now.since($0) < Self.span }
  }
}
