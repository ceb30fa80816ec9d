import RegentPairing
import Testing

@testable import AccessEnabler

/// Which providers the platform's dialog shows, as the app filters them.
@Suite("Machine: the platform's dialog and its filter")
struct PlatformDialogTests {
  private static let providers = [
    provider("A", .supported), provider("B", .picker), provider("C", .supported), MVPD(id: "PLAIN", displayName: "P"),
  ]

  private static func provider(_ id: String, _ boarding: BoardingStatus) -> MVPD {
    MVPD(id: id, displayName: id, enablePlatformServices: true, boardingStatus: boarding)
  }

  /// A daemon is there, nobody is signed in on the box, and somebody begins to sign in; the box has not answered yet.
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

  /// The same, and the dialog is up.
  private static func presenting(_ filter: ProviderFilter?) -> Bench {
    var bench = asking(filter)
    show(&bench)
    return bench
  }

  private static func show(_ bench: inout Bench) {
    bench.answer(.platform(.status(PlatformStatus(permission: .granted, isSignedIn: false))))
    bench.answer(.platform(.picker(["A", "B", "C"])))
  }

  /// The dialogs that were shown.
  private static func shown(_ bench: Bench) -> [ProviderDialog] {
    bench.told.compactMap { if case .presentTvProviderDialog(let dialog) = $0 { dialog } else { nil } }
  }

  @Test func `a filter gives the order, and leaves out who has no part in the box's account`() throws {
    let filter = ProviderFilter(["TV_PROVIDERS": ["C", "PLAIN", "A"], "FEATURED_TV_PROVIDERS": ["A", "B"]])
    let dialog = try #require(Self.shown(Self.presenting(filter)).last)
    #expect(dialog.providers.map(\.id) == ["C", "A"])
    #expect(dialog.featured.map(\.id) == ["A"], "featured are a subset of what is shown")
    let older = try #require(Self.shown(Self.presenting(ProviderFilter(["B", "A"]))).last)
    #expect(older.providers.map(\.id) == ["B", "A"] && older.featured.isEmpty)
    // Also when it is set afterwards.
    var changed = ProviderFilter(["C", "A"])
    changed.featured = ["B", "A"]
    let late = try #require(Self.shown(Self.presenting(changed)).last)
    #expect(late.featured.map(\.id) == ["A"])
    // A filter that leaves nobody is none: a dialog without a provider helps nobody.
    let nobody = try #require(Self.shown(Self.presenting(ProviderFilter(["PLAIN", "X"]))).last)
    #expect(nobody.providers.map(\.id) == ["A", "B", "C"])
  }

  @Test func `a filter that is given while the dialog is up counts at once, and goes on counting`() throws {
    var bench = Self.presenting(nil)
    let first = try #require(Self.shown(bench).last)
    #expect(first.providers.map(\.id) == ["A", "B", "C"])
    bench.forget()
    bench.call(.getAuthentication(AuthenticationRequest(filter: ProviderFilter(["B"]))))
    let second = try #require(Self.shown(bench).last)
    #expect(second.providers.map(\.id) == ["B"])
    #expect(bench.told == [.dismissTvProviderDialog(first), .presentTvProviderDialog(second)])
    // Whoever joins without a filter changes nothing about it.
    bench.forget()
    bench.call(.getAuthorization("r", data: [:]))
    #expect(bench.told == [.dismissTvProviderDialog(second), .presentTvProviderDialog(second)])
    // The dialog that is up is the one that goes, once; the classic picker that follows shows all.
    bench.forget()
    bench.call(.answerTvProviderDialog(.other))
    let dialogs = bench.told.filter { if case .dismissTvProviderDialog = $0 { true } else { false } }
    #expect(dialogs == [.dismissTvProviderDialog(second)])
    #expect(bench.told.last == .displayProviderDialog(Self.providers))
  }

  @Test func `a filter that is given while the box is asked counts for the dialog that follows`() throws {
    var bench = Self.asking(ProviderFilter(["A"]))
    bench.call(.getAuthentication(AuthenticationRequest(filter: ProviderFilter(["C", "B"]))))
    Self.show(&bench)
    #expect(Self.shown(bench).map { $0.providers.map(\.id) } == [["C", "B"]])
  }

  @Test func `a dialog that no code of the app handles becomes the app's own picker, without a code`() throws {
    var bench = Self.presenting(nil)
    let dialog = try #require(Self.shown(bench).last)
    bench.forget()
    bench.call(.dialogUnhandled(dialog))
    #expect(bench.told.first == .dismissTvProviderDialog(dialog))
    #expect(bench.told.count == 2 && Self.ownPickers(bench) == 1)
    // A report that comes late, about a dialog that is gone, changes nothing.
    bench.forget()
    bench.call(.dialogUnhandled(dialog))
    #expect(bench.told.isEmpty)
  }

  @Test func `a dialog without an answer counts as cancelled after its time`() throws {
    var bench = Self.presenting(nil)
    let dialog = try #require(Self.shown(bench).last)
    let first = try #require(bench.deadline)
    bench.call(.getAuthentication(AuthenticationRequest()))
    let second = try #require(bench.deadline)
    bench.forget()
    bench.send(.timer(first))
    #expect(bench.told.isEmpty, "the dialog was shown again: its time began anew")
    bench.send(.timer(second))
    #expect(bench.told.first == .dismissTvProviderDialog(dialog))
    #expect(bench.statuses == [.pickerCancelled] && Self.ownPickers(bench) == 1)
    // An answer after that comes too late.
    bench.forget()
    bench.call(.answerTvProviderDialog(.other))
    #expect(bench.told.isEmpty)
  }

  private static func ownPickers(_ bench: Bench) -> Int {
    bench.told.count { if case .displayProviderDialog = $0 { true } else { false } }
  }
}
