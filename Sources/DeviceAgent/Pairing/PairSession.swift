import CommandKit
import RegentPlatform

/// The conversation with the service that a sign-in needs.
protocol PairLink: Sendable {
  /// What the service says; asked for once.
  func events() -> AsyncStream<LinkEvent>
  /// Asks for a code; an earlier one is withdrawn by that.
  func requestCode(provider: String?)
  /// Takes the code back, as far as that can be done in a moment.
  ///
  /// Without it the code stays good: after a restart the same one goes on.
  func withdraw() async
}

/// Runs a sign-in: inputs go into the machine, what it wants is done, and the screen follows.
struct PairSession: Sendable {
  let link: any PairLink
  let surface: any PairSurface
  let picture: PictureOutput
  /// Milliseconds since boot.
  var clock: @Sendable () -> Int64 = { Int64(Clocks.bootNanoseconds() / 1_000_000) }

  /// How often the bar is looked at while a code is shown.
  static let redrawPause: Int64 = 10_000
  /// How often a terminal is asked for that another program has.
  static let absencePause: Int64 = 1_000

  /// Runs to the end.
  ///
  /// - Parameters:
  ///   - model: the machine, not started.
  ///   - inputs: keys and signals.
  /// - Returns: how the program ends.
  func run(_ model: PairModel, inputs: AsyncStream<PairInput>) async -> ExitCode {
    var model = model
    let (merged, sink) = AsyncStream.makeStream(of: PairInput.self)
    let outside = Task { for await input in inputs { sink.yield(input) } }
    let events = link.events()
    let service = Task { for await event in events { sink.yield(.link(event)) } }
    var timer: Task<Void, Never>?
    defer {
      outside.cancel()
      service.cancel()
      timer?.cancel()
      picture.remove()
    }
    if let end = await perform(model.start(now: clock()), model) { return end }
    timer = tick(after: model, sink)
    for await input in merged {
      if input == .redraw {
        surface.invalidate()
        picture.invalidate()
      }
      if let end = await perform(model.handle(input, now: clock()), model) { return end }
      timer?.cancel()
      timer = tick(after: model, sink)
    }
    return .failed
  }

  private func perform(_ effects: [PairEffect], _ model: PairModel) async -> ExitCode? {
    var end: ExitCode?
    for effect in effects {
      switch effect {
      case .requestCode(let provider): link.requestCode(provider: provider)
      case .withdraw: await link.withdraw()
      case .tell(let event): surface.tell(event)
      case .end(let code): end = code
      }
    }
    var view = model.view
    // Without the picture the screen has room for it.
    if !picture.show(view.stage.code?.link) { view.picture = .characters }
    if end == nil { surface.show(view, now: clock()) }
    return end
  }

  private func tick(
    after model: PairModel, _ sink: AsyncStream<PairInput>.Continuation
  ) -> Task<Void, Never>? {
    let now = clock()
    var due = model.nextDeadline()
    if surface.isElsewhere {
      due = min(due ?? .max, now + Self.absencePause)
    } else if surface.showsTime, model.view.stage.code != nil {
      due = min(due ?? .max, now + Self.redrawPause)
    }
    guard let due else { return nil }
    return Task {
      // Short of a day, so that no addition overflows; a tick too early does no harm.
      try? await Task.sleep(for: .milliseconds(min(max(0, due - now), 86_400_000)))
      if !Task.isCancelled { sink.yield(.tick) }
    }
  }
}
