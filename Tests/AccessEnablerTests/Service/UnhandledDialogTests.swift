import RegentPlatform
import TestSupport
import Testing

@testable import AccessEnabler

/// How the enabler finds out that an app has no code for the platform's dialog.
@Suite("A dialog that the app does not handle")
struct UnhandledDialogTests {
  private class Silent: @unchecked Sendable {
    let calls = Locked<[String]>([])
    func setRequestorComplete(_ status: EnablerStatus) { calls.withLock { $0.append("complete") } }
    func displayProviderDialog(_ providers: [MVPD]) {}
    func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) {}
    func setToken(_ token: String, forResource resource: String) {}
    func tokenRequestFailed(_ resource: String, code: EntitlementCode, description: String) {}
  }

  /// The callbacks without a default, and nothing else.
  private final class Plain: Silent, EntitlementDelegate, @unchecked Sendable {}

  private final class Drawing: Silent, EntitlementDelegate, @unchecked Sendable {
    func presentTvProviderDialog(_ dialog: ProviderDialog) { calls.withLock { $0.append("dialog") } }
  }

  private static let dialog = ProviderDialog(title: "TV provider", providers: [])

  /// What the delegate and the report heard of a dialog and the callback after it.
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

  @Test func `a delegate without the callback is reported`() async throws {
    #expect(try await Self.deliver(to: Plain()).unhandled == [Self.dialog])
  }

  @Test func `a delegate with the callback is not`() async throws {
    let heard = try await Self.deliver(to: Drawing())
    #expect(heard.calls == ["dialog", "complete"] && heard.unhandled.isEmpty)
  }

  @Test func `an app that reads events may handle it there`() async throws {
    let events = Locked<[AsyncStream<EntitlementEvent>]>([])
    let heard = try await Self.deliver(to: Plain()) { dispatcher in
      events.withLock { $0.append(dispatcher.newStream()) }
    }
    #expect(heard.unhandled.isEmpty)
  }
}
