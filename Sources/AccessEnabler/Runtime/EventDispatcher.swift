import RegentPlatform

/// Everybody who hears of what happens: the delegate, event streams, and the calls that wait for their end.
final class EventDispatcher: Sendable {
  private struct Waiting: Sendable {
    var end: @Sendable (RequestOutcome) -> Void
    var progress: (@Sendable (EntitlementEvent) -> Void)?
  }

  private struct State: Sendable {
    var waiting: [RequestID: Waiting] = [:]
    var streams: [Int: AsyncStream<EntitlementEvent>.Continuation] = [:]
    var lastStream = 0
    var isClosed = false
  }

  private let state = Locked(State())
  /// The delegate's callbacks go through a task of their own: one that is slow does not hold up the machine.
  private let delegateEvents: AsyncStream<EntitlementEvent>.Continuation?

  init(_ delegate: (any EntitlementDelegate)?) {
    guard let delegate else {
      delegateEvents = nil
      return
    }
    let (events, delegateEvents) = AsyncStream<EntitlementEvent>.makeStream()
    self.delegateEvents = delegateEvents
    // A thread of its own: a delegate that sleeps would hold one of the few that all tasks of the process share.
    Task(executorPreference: OnDemandThread(named: "delegate")) { [weak delegate] in
      for await event in events {
        if let delegate { await event.tell(delegate) }
      }
    }
  }

  func await(
    _ request: RequestID, _ progress: (@Sendable (EntitlementEvent) -> Void)?,
    _ end: @escaping @Sendable (RequestOutcome) -> Void
  ) {
    state.withLock { $0.waiting[request] = Waiting(end: end, progress: progress) }
  }

  func newStream() -> AsyncStream<EntitlementEvent> {
    let (events, continuation) = AsyncStream<EntitlementEvent>.makeStream(
      bufferingPolicy: .bufferingNewest(1_024))
    let number = state.withLock { state -> Int? in
      guard !state.isClosed else { return nil }
      state.lastStream += 1
      state.streams[state.lastStream] = continuation
      return state.lastStream
    }
    guard let number else {
      continuation.finish()
      return events
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.streams[number] = nil }
    }
    return events
  }

  /// The delegate and the streams hear everything, a call that waits what is told for it.
  func tell(_ event: EntitlementEvent, for requests: [RequestID] = []) {
    let (streams, listeners) = state.withLock { state in
      (Array(state.streams.values), requests.compactMap { state.waiting[$0]?.progress })
    }
    delegateEvents?.yield(event)
    for stream in streams { stream.yield(event) }
    for listener in listeners { listener(event) }
  }

  func finish(_ request: RequestID, _ outcome: RequestOutcome) {
    let waiting = state.withLock { $0.waiting.removeValue(forKey: request) }
    waiting?.end(outcome)
  }

  /// Nothing comes any more.
  func close() {
    let (waiting, streams) = state.withLock { state in
      defer {
        state.isClosed = true
        state.waiting = [:]
        state.streams = [:]
      }
      return (Array(state.waiting.values), Array(state.streams.values))
    }
    for one in waiting { one.end(.failed(EntitlementError(.cancelled))) }
    for stream in streams { stream.finish() }
    delegateEvents?.finish()
  }
}
