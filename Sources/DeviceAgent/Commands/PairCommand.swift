import CommandKit
import RegentPairing
import RegentPlatform
import QRCode

/// `regent pair`: shows a code and waits until the viewer has approved it.
enum PairCommand {
  private static let provider = Input.option(
    "provider", .text("ID"), "the TV provider (default: the viewer chooses on the phone)")
  private static let unattended = Input.flag(
    "unattended", "replace expired codes without a key press, at most 12 per hour")
  private static let force = Input.flag("force", "sign in again even if this box is signed in")
  private static let matching = Input.flag(
    "number-matching", "show a number that the viewer must pick on the phone")
  private static let lifetime = Input.option(
    "lifetime", .duration(.seconds(1)...CodeLifetime.longest.span),
    "the time for which a code is valid (default: the service decides)")
  private static let data = Input.repeated(
    "data", .assignment, "the viewer's identity for a promotional pass: email=ADDRESS")
  private static let product = Input.option(
    "product", .text("NAME"), default: PairView.usualProduct, "the product name on the screen")
  private static let program = Input.arguments(
    "PROGRAM", .text, orNone: true, "a program to run when the box is signed in, and its arguments")

  static func command(
    _ context: AgentContext, named name: String = "pair",
    _ summary: String = "sign this box in: show a code and wait for the phone", example: String = "regent pair"
  ) -> Command {
    Command(
      name, summary,
      details: """
        At a terminal the code fills the screen. Otherwise each event is one line of text, or with --json one JSON \
        document: code (code, display, url, address, expires), opened, match (number), authenticated (name, \
        provider), denied, expired, error (code, message, hint). If the service cannot be reached, the command \
        retries with growing intervals; a signal ends it with exit code 6.

        If the daemon runs, it gets the sign-in. Root can always do this; another user needs a line such as \
        "allow = user:kodi pair" in /etc/regent/agent.conf. --state DIR signs in for that folder instead.

        For a promotional pass (--provider) give the viewer's identity: --data email=ADDRESS.

        If the box is already signed in, the command prints that and exits with 0; --force signs in again. With \
        --provider ID it exits with 1 if the box is signed in with another provider.

        With -- PROGRAM it runs that program after the sign-in, for example the launcher of a TV box. The program \
        runs as the user who typed the command; this is refused for root if the daemon has another user.

        The signal USR1 requests a new code, like the key n.
        """,
      inputs: [
        PictureOptions.file, PictureOptions.picture, provider, unattended, force, matching, lifetime,
        data, product, program,
      ],
      sections: [
        InputSection("framebuffer", [PictureOptions.device, PictureOptions.geometry])
      ],
      example: example
    ) { call async throws in
      let order = PairOrder(
        isForced: call[force], numberMatching: call[matching], lifetime: call[lifetime]?.wholeMilliseconds,
        data: Dictionary(call[data].map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }))
      let words = call[program]
      let user = Accounts.effectiveUser
      let place = try await AgentSettings(call).besideDaemon(order)
      guard words.isEmpty || Accounts.effectiveUser == user else {
        throw CommandError.usage(
          "the program \(words[0]) would run as the daemon's user, and not as yours",
          hint: "add to /etc/regent/agent.conf: allow = user:NAME pair; then run regent pair as user NAME")
      }
      let settings = place.settings
      let set = try PairSetUp(
        call, settings, isUnattended: call[unattended], product: call[product])
      let buildTime = context.buildTime
      let link: any PairLink =
        if let link = place.link {
          link
        } else {
          try LateLink.link { () throws(CommandError) in try settings.link(order, buildTime: buildTime) }
        }
      let model = PairModel(mode: set.mode, provider: call[provider], product: call[product])
      let code = try await set.run(link, model, context.held)
      if code != .done { throw QuietExit(code) }
      guard !words.isEmpty else { return }
      try becoming(call) { () throws(SystemError) in
        try ProgramReplacement.run(words[0], Array(words.dropFirst()), held: context.held)
      }
    }
    .withFailures { error in
      PairEvent.error(
        AgentFailure(code: error.code, message: error.message, hint: error.hint, trouble: .service)
      ).document
    }
  }
}

/// How a sign-in is displayed, as the terminal and the options decide.
struct PairSetUp: Sendable {
  let mode: PairMode
  private let call: Invocation
  private let settings: AgentSettings
  private let target: PictureOutput.Target
  private let facts: TerminalFacts
  private let usesScreen: Bool

  init(
    _ call: Invocation, _ settings: AgentSettings, isUnattended: Bool, product: String
  ) throws(CommandError) {
    self.call = call
    self.settings = settings
    facts = TerminalFacts(of: 1, call.environment)
    usesScreen = call.console.output.isTerminal && !call.wantsJSON && facts.canBeDrawnOn
    target = try PictureOptions.target(call, onScreen: usesScreen ? (facts, WindowSize(of: 1)) : nil)
    mode =
      isUnattended ? .unattended : usesScreen && Terminal.isTerminal(0) ? .attended : .once
  }

  /// Runs the sign-in to its end.
  ///
  /// Always restores the terminal.
  func run(
    _ link: any PairLink, _ model: PairModel, _ held: HeldSignals
  ) async throws -> ExitCode {
    let (inputs, sink) = AsyncStream.makeStream(of: PairInput.self)
    let signals = try SignalListener(held) { signal in
      switch signal {
      case .windowChanged: sink.yield(.redraw)
      case .user1: sink.yield(.renew)
      default: sink.yield(.stop)
      }
    }
    defer { signals.stop() }
    let console = call.console
    let picture = PictureOutput(target) { error in
      // When the whole screen is drawn, an error line would overwrite the picture.
      if !usesScreen { console.note("regent: \(error.message)") }
    }
    guard usesScreen else {
      let reader = try ReaderWatch(on: 1) { sink.yield(.unheard) }
      defer { reader.stop() }
      let surface = LineSurface(console, settings.language, wantsJSON: call.wantsJSON) {
        sink.yield(.unheard)
      }
      let session = PairSession(link: link, surface: surface, picture: picture)
      return await session.run(model, inputs: inputs)
    }
    return try await onScreen(link, model, inputs, sink, picture)
  }

  private func onScreen(
    _ link: any PairLink, _ model: PairModel, _ inputs: AsyncStream<PairInput>,
    _ sink: AsyncStream<PairInput>.Continuation, _ picture: PictureOutput
  ) async throws -> ExitCode {
    let hasKeys = Terminal.isTerminal(0)
    let terminal = try TerminalSession(
      on: hasKeys ? 0 : 1, mode: .keys, greeting: ScreenSurface.greeting,
      farewell: ScreenSurface.farewell)
    let keys =
      hasKeys
      ? try KeyListener(on: 0) { key in sink.yield(key.map { .key($0) } ?? .keysEnded) } : nil
    defer { keys?.stop() }
    let capabilities = facts.capabilities(asked: call[PictureOptions.picture])
    let surface = ScreenSurface(
      call.console.output, capabilities: capabilities, language: settings.language,
      size: { WindowSize(of: 1) }, hold: { TerminalSession.hold() })
    var model = model
    model.show(picture: pictureMode, hasKeys: hasKeys)
    let last = LastEvent()
    let session = PairSession(
      link: link, surface: RememberingSurface(surface, last), picture: picture)
    let code = await session.run(model, inputs: inputs)
    terminal.end()
    // The screen is cleared at the end, so the outcome is printed as one line.
    if let event = last.event {
      LineSurface(call.console, settings.language, wantsJSON: false).tell(event)
    }
    return code
  }

  private var pictureMode: PictureMode {
    switch target {
    case .none: call[PictureOptions.picture] == .none ? .none : .characters
    case .png(let path), .svg(let path): .file(path)
    case .framebuffer: .framebuffer
    }
  }
}

/// The latest event that ended the sign-in, with success or without.
private final class LastEvent: Sendable {
  private let state = Locked<PairEvent?>(nil)

  var event: PairEvent? { state.withLock { $0 } }

  func keep(_ event: PairEvent) {
    switch event {
    case .authenticated, .alreadySignedIn, .denied, .deniedAtNumber, .expired, .error:
      state.withLock { $0 = event }
    case .code, .opened, .match: state.withLock { $0 = nil }
    }
  }
}

/// A screen that also remembers how the sign-in ended.
///
/// The command prints the result after the screen is cleared.
private struct RememberingSurface: PairSurface {
  private let screen: ScreenSurface
  private let last: LastEvent

  init(_ screen: ScreenSurface, _ last: LastEvent) {
    self.screen = screen
    self.last = last
  }

  var showsTime: Bool { screen.showsTime }
  var isElsewhere: Bool { screen.isElsewhere }
  func show(_ view: PairView, now: Int64) { screen.show(view, now: now) }
  func tell(_ event: PairEvent) { last.keep(event) }
  func invalidate() { screen.invalidate() }
}
