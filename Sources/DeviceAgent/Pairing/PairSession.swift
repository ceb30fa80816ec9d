import CommandKit
import RegentPlatform

/// The connection to the service for one sign-in.
protocol PairLink: Sendable {
  /// The events of the sign-in.
  ///
  /// Call it once.
  func events() -> AsyncStream<LinkEvent>
  /// Requests a code.
  ///
  /// The service then withdraws the box's earlier code.
  func requestCode(provider: String?)
  /// Withdraws the code, as far as this is possible within a moment.
  ///
  /// A code that is not withdrawn stays valid and is shown again after a restart.
  func withdraw() async
}

/// Runs a sign-in: passes inputs to the state machine, performs its effects and updates the screen.
struct PairSession: Sendable {
  let link: any PairLink
  let surface: any PairSurface
  let picture: PictureOutput
  /// Returns the milliseconds since boot.
  var clock: @Sendable () -> Int64 = { Int64(Clocks.bootNanoseconds() / 1_000_000) }

  /// How often the time bar is redrawn while a code is shown, in milliseconds.
  static let redrawPause: Int64 = 10_000
  /// How often to check whether another program has returned the terminal, in milliseconds.
  static let absencePause: Int64 = 1_000

  /// Runs the sign-in to its end.
  ///
  /// - Parameters:
  ///   - model: the state machine, not started yet.
  ///   - inputs: keys and signals.
  /// - Returns: the exit code.
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
    // If the image or framebuffer cannot be used, the QR code is drawn with characters.
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
      // The pause is at most a day, so that no addition overflows. A tick that comes too early is harmless.
      try? await Task.sleep(for: .milliseconds(min(max(0, due - now), 86_400_000)))
      if !Task.isCancelled { sink.yield(.tick) }
    }
  }
}
