import RegentPlatform
import TestSupport

@testable import AccessEnabler

/// Records the callbacks in order.
final class Recorder: EntitlementDelegate {
  private let state = Locked<[String]>([])
  private let onEvent: @Sendable (String) -> Void

  init(onEvent: @escaping @Sendable (String) -> Void = { _ in }) { self.onEvent = onEvent }

  var lines: [String] { state.withLock { $0 } }
  /// The lines without tracking data and statuses.
  var callbacks: [String] {
    lines.filter { !$0.hasPrefix("TRACKING") && !$0.hasPrefix("status ") }
  }

  /// Waits until a line with this beginning has been recorded.
  func wait(for text: String) async throws {
    do {
      try await eventually("the callback \(text)") { lines.contains { $0.hasPrefix(text) } }
    } catch {
      throw TestSupportError("\(error); recorded: \(lines)")
    }
  }

  func forget() { state.withLock { $0 = [] } }

  private func note(_ line: String) {
    state.withLock { $0.append(line) }
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
