import RegentPlatform
import TestSupport
import Testing

@testable import AccessEnabler

/// Tests how the enabler notices that an app does not implement the platform's dialog.
@Suite("A platform dialog that the app does not implement")
struct UnhandledDialogTests {
  private class Silent: @unchecked Sendable {
    let calls = Locked<[String]>([])
    func setRequestorComplete(_ status: EnablerStatus) { calls.withLock { $0.append("complete") } }
    func displayProviderDialog(_ providers: [MVPD]) {}
    func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) {}
    func setToken(_ token: String, forResource resource: String) {}
    func tokenRequestFailed(_ resource: String, code: EntitlementCode, description: String) {}
  }

  /// Implements only the callbacks that have no default.
  private final class Plain: Silent, EntitlementDelegate, @unchecked Sendable {}

  private final class Drawing: Silent, EntitlementDelegate, @unchecked Sendable {
    func presentTvProviderDialog(_ dialog: ProviderDialog) { calls.withLock { $0.append("dialog") } }
  }

  private static let dialog = ProviderDialog(title: "TV provider", providers: [])

  /// The delegate's calls and the reported dialogs after one dialog and one more callback.
  private static func deliver(
    to delegate: some Silent & EntitlementDelegate, _ prepare: (EventDispatcher) -> Void = { _ in }
  ) async throws -> (calls: [String], unhandled: [ProviderDialog]) {
    let unhandled = Locked<[ProviderDialog]>([])
    let dispatcher = EventDispatcher(delegate) { dialog in unhandled.withLock { $0.append(dialog) } }
    prepare(dispatcher)
    dispatcher.tell(.presentTvProviderDialog(dialog))
    dispatcher.tell(.setRequestorComplete(.success))
    try await eventually("the callback after it") { delegate.calls.withLock { $0 }.last == "complete" }
    return (delegate.calls.withLock { $0 }, unhandled.withLock { $0 })
  }

  @Test func `a dialog counts as unhandled when the delegate does not implement the callback`() async throws {
    #expect(try await Self.deliver(to: Plain()).unhandled == [Self.dialog])
  }

  @Test func `a dialog does not count as unhandled when the delegate implements the callback`() async throws {
    let heard = try await Self.deliver(to: Drawing())
    #expect(heard.calls == ["dialog", "complete"] && heard.unhandled.isEmpty)
  }

  @Test func `a dialog does not count as unhandled while the app reads the event stream`() async throws {
    let events = Locked<[AsyncStream<EntitlementEvent>]>([])
    let heard = try await Self.deliver(to: Plain()) { dispatcher in
      events.withLock { $0.append(dispatcher.newStream()) }
    }
    #expect(heard.unhandled.isEmpty)
  }
}
