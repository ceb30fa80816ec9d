/// What became of it: the screen has its token, or will have it in a moment.
package struct ResultPage: PhonePage {
  /// The states that the page changes between by itself; their names are what the waiting request answers.
  package enum State: String, CaseIterable, Sendable {
    /// Approved; the screen has not fetched it yet.
    case approved
    /// Approved some seconds ago, and the screen has not fetched it: one that asks every few seconds may still come.
    case late
    /// The screen has it.
    case delivered
    /// Approved, and the screen has been silent for long.
    case silent
  }

  package var bar: CodeBar
  /// The state now.
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
