import RegentPairing
import Testing

@testable import AccessEnabler

/// The providers that the platform's dialog shows, and the app's filter for them.
@Suite("State machine: the platform's provider dialog and its filter")
struct PlatformDialogTests {
  private static let providers = [
    provider("A", .supported), provider("B", .picker), provider("C", .supported), MVPD(id: "PLAIN", displayName: "P"),
  ]

  private static func provider(_ id: String, _ boarding: BoardingStatus) -> MVPD {
    MVPD(id: id, displayName: id, enablePlatformServices: true, boardingStatus: boarding)
  }

  /// The app has called getAuthentication while the box is not signed in; the daemon has not answered yet.
  private static func asking(_ filter: ProviderFilter?) -> Bench {
    var bench = Bench()
    bench.send(.platform(isThere: true))
    bench.setRequestor()
    bench.answer(.configuration(ServiceConfiguration(providers: providers, domains: [])))
    bench.answer(.missing)
    bench.answer(.platform(.status(PlatformStatus(permission: .granted, isSignedIn: false))))
    bench.forget()
    bench.call(.getAuthentication(AuthenticationRequest(filter: filter)))
    return bench
  }

  /// As `asking(_:)`, after the daemon answered: the dialog is on the screen.
  private static func presenting(_ filter: ProviderFilter?) -> Bench {
    var bench = asking(filter)
    show(&bench)
    return bench
  }

  private static func show(_ bench: inout Bench) {
    bench.answer(.platform(.status(PlatformStatus(permission: .granted, isSignedIn: false))))
    bench.answer(.platform(.picker(["A", "B", "C"])))
  }

  /// The platform dialogs that the app was told to present.
  private static func shown(_ bench: Bench) -> [ProviderDialog] {
    bench.told.compactMap { if case .presentTvProviderDialog(let dialog) = $0 { dialog } else { nil } }
  }

  @Test func `a filter sets the order of the dialog and drops providers without platform sign-in`() throws {
    let filter = ProviderFilter(["TV_PROVIDERS": ["C", "PLAIN", "A"], "FEATURED_TV_PROVIDERS": ["A", "B"]])
    let dialog = try #require(Self.shown(Self.presenting(filter)).last)
    #expect(dialog.providers.map(\.id) == ["C", "A"])
    #expect(dialog.featured.map(\.id) == ["A"], "featured providers are a subset of the shown ones")
    let older = try #require(Self.shown(Self.presenting(ProviderFilter(["B", "A"]))).last)
    #expect(older.providers.map(\.id) == ["B", "A"] && older.featured.isEmpty)
    // The same holds for featured providers that are set later.
    var changed = ProviderFilter(["C", "A"])
    changed.featured = ["B", "A"]
    let late = try #require(Self.shown(Self.presenting(changed)).last)
    #expect(late.featured.map(\.id) == ["A"])
    // A filter that leaves no provider is ignored, because an empty dialog is useless.
    let nobody = try #require(Self.shown(Self.presenting(ProviderFilter(["PLAIN", "X"]))).last)
    #expect(nobody.providers.map(\.id) == ["A", "B", "C"])
  }

  @Test func `a filter passed while the dialog is open changes the dialog at once and stays in force`() throws {
    var bench = Self.presenting(nil)
    let first = try #require(Self.shown(bench).last)
    #expect(first.providers.map(\.id) == ["A", "B", "C"])
    bench.forget()
    bench.call(.getAuthentication(AuthenticationRequest(filter: ProviderFilter(["B"]))))
    let second = try #require(Self.shown(bench).last)
    #expect(second.providers.map(\.id) == ["B"])
    #expect(bench.told == [.dismissTvProviderDialog(first), .presentTvProviderDialog(second)])
    // A later call without a filter keeps the current one.
    bench.forget()
    bench.call(.getAuthorization("r", data: [:]))
    #expect(bench.told == [.dismissTvProviderDialog(second), .presentTvProviderDialog(second)])
    // Only the dialog on the screen is dismissed. The ordinary picker that follows shows every provider.
    bench.forget()
    bench.call(.answerTvProviderDialog(.other))
    let dialogs = bench.told.filter { if case .dismissTvProviderDialog = $0 { true } else { false } }
    #expect(dialogs == [.dismissTvProviderDialog(second)])
    #expect(bench.told.last == .displayProviderDialog(Self.providers))
  }

  @Test func `the last filter passed while the daemon is asked applies to the dialog that follows`() throws {
    var bench = Self.asking(ProviderFilter(["A"]))
    bench.call(.getAuthentication(AuthenticationRequest(filter: ProviderFilter(["C", "B"]))))
    Self.show(&bench)
    #expect(Self.shown(bench).map { $0.providers.map(\.id) } == [["C", "B"]])
  }

  @Test func `a platform dialog that the app does not handle is replaced by the app's own picker`() throws {
    var bench = Self.presenting(nil)
    let dialog = try #require(Self.shown(bench).last)
    bench.forget()
    bench.call(.dialogUnhandled(dialog))
    #expect(bench.told.first == .dismissTvProviderDialog(dialog))
    #expect(bench.told.count == 2 && Self.ownPickers(bench) == 1)
    // A late report about a dismissed dialog changes nothing.
    bench.forget()
    bench.call(.dialogUnhandled(dialog))
    #expect(bench.told.isEmpty)
  }

  @Test func `a platform dialog without an answer counts as cancelled after its time limit`() throws {
    var bench = Self.presenting(nil)
    let dialog = try #require(Self.shown(bench).last)
    let first = try #require(bench.deadline)
    bench.call(.getAuthentication(AuthenticationRequest()))
    let second = try #require(bench.deadline)
    bench.forget()
    bench.send(.timer(first))
    #expect(bench.told.isEmpty, "the dialog was shown again, which restarts its time limit")
    bench.send(.timer(second))
    #expect(bench.told.first == .dismissTvProviderDialog(dialog))
    #expect(bench.statuses == [.pickerCancelled] && Self.ownPickers(bench) == 1)
    // An answer after the time limit is ignored.
    bench.forget()
    bench.call(.answerTvProviderDialog(.other))
    #expect(bench.told.isEmpty)
  }

  private static func ownPickers(_ bench: Bench) -> Int {
    bench.told.count { if case .displayProviderDialog = $0 { true } else { false } }
  }
}
