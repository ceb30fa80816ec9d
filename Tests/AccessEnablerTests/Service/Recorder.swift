import RegentPlatform

@testable import AccessEnabler

/// Writes the callbacks down, in order, and answers the picker.
final class Recorder: EntitlementDelegate {
  private struct State: Sendable {
    var lines: [String] = []
    var waiting: [(text: String, resume: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())
  private let onEvent: @Sendable (String) -> Void

  init(onEvent: @escaping @Sendable (String) -> Void = { _ in }) { self.onEvent = onEvent }

  var lines: [String] { state.withLock { $0.lines } }
  /// Without tracking data and news.
  var callbacks: [String] {
    lines.filter { !$0.hasPrefix("TRACKING") && !$0.hasPrefix("status ") }
  }

  /// Waits until a line with this beginning has come.
  func wait(for text: String) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        guard !state.lines.contains(where: { $0.hasPrefix(text) }) else { return true }
        state.waiting.append((text, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func forget() { state.withLock { $0.lines = [] } }

  private func note(_ line: String) {
    let ready = state.withLock { state in
      state.lines.append(line)
      let ready = state.waiting.filter { line.hasPrefix($0.text) }
      state.waiting.removeAll { line.hasPrefix($0.text) }
      return ready
    }
    for one in ready { one.resume.resume() }
    onEvent(line)
  }

  func setRequestorComplete(_ status: EnablerStatus) {
    note("setRequestorComplete \(status.rawValue)")
  }
  func displayProviderDialog(_ providers: [MVPD]) {
    note("displayProviderDialog \(providers.map(\.id).joined(separator: ","))")
  }
  func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) {
    note("setAuthenticationStatus \(status.rawValue) \(code.rawValue)")
  }
  func setToken(_ token: String, forResource resource: String) {
    note("setToken \(resource) \(token.prefix(15))")
  }
  func tokenRequestFailed(_ resource: String, code: EntitlementCode, description: String) {
    note("tokenRequestFailed \(resource) \(code.rawValue) \(description)")
  }
  func status(_ status: EntitlementStatus) {
    note("status \(status.id) \(status.message)")
  }
  func navigateToUrl(_ url: String) { note("navigateToUrl \(url)") }
  func navigateToUrl(_ url: String, useSVC: Bool) { note("navigateToUrl SVC \(url)") }
  func preauthorizedResources(_ resources: [String]) {
    note("preauthorizedResources \(resources.joined(separator: ","))")
  }
  func selectedProvider(_ provider: MVPD?) { note("selectedProvider \(provider?.id ?? "none")") }
  func setMetadataStatus(
    _ value: MetadataValue?, encrypted: Bool, forKey key: String, arguments: [String: String]
  ) {
    note("setMetadataStatus \(key) \(value.map { "\($0)" } ?? "none") \(encrypted)")
  }
  func sendTrackingData(_ data: [String], forEvent event: TrackingEvent) {
    note("\(event.name) \(data.joined(separator: "|"))")
  }
}
