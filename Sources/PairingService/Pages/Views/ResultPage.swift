/// The page after an approval: the screen has fetched its sign-in, or the page waits until it does.
package struct ResultPage: PhonePage {
  /// The states between which the result page changes by itself; the long poll at `/wait` returns these names.
  package enum State: String, CaseIterable, Sendable {
    /// The code is approved, and the screen has not fetched its sign-in yet.
    case approved
    /// The code was approved some seconds ago, and the screen has not fetched its sign-in yet.
    ///
    /// A screen that polls every few seconds may still fetch it.
    case late
    /// The screen has fetched its sign-in.
    case delivered
    /// The code was approved long ago, and the screen has not fetched its sign-in.
    case silent
  }

  package var bar: CodeBar
  package var state: State

  package init(bar: CodeBar, state: State) {
    self.bar = bar
    self.state = state
  }

  package static let template = "result.html"

  package static let fields: [TemplateField<ResultPage>] = [
    .record("bar") { $0.bar },
    .text("state") { $0.state.rawValue },
    .flag("isApproved") { $0.state == .approved },
    .flag("isLate") { $0.state == .late },
    .flag("isDelivered") { $0.state == .delivered },
    .flag("isSilent") { $0.state == .silent },
    .path("here") { PagePaths.code($0.bar.code, .result) },
    .path("wait") { PagePaths.code($0.bar.code, .wait) },
  ]
}
