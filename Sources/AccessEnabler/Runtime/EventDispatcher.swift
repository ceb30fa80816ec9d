import RegentPlatform

/// Delivers events to the delegate, to event streams and to the calls that wait for their end.
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
    weak var delegate: (any EntitlementDelegate)?
    /// Callbacks go through a task of their own, so that a slow delegate does not hold up the machine.
    ///
    /// An app without a delegate has no such task.
    var delegateEvents: AsyncStream<Delivery>.Continuation?
  }

  private struct Delivery: Sendable {
    var event: EntitlementEvent
    var hasOtherListeners: Bool
  }

  private let state = Locked(State())
  private let unhandled: @Sendable (ProviderDialog) -> Void

  /// - Parameters:
  ///   - delegate: the app's delegate.
  ///   - unhandled: called with a dialog that the delegate does not handle and no other listener hears of.
  init(_ delegate: (any EntitlementDelegate)?, unhandled: @escaping @Sendable (ProviderDialog) -> Void) {
    self.unhandled = unhandled
    self.delegate = delegate
  }

  /// The app's delegate; each callback goes to the one that is set when it is delivered.
  var delegate: (any EntitlementDelegate)? {
    get { state.withLock { $0.delegate } }
    set {
      let events = state.withLock { state -> AsyncStream<Delivery>? in
        state.delegate = newValue
        guard newValue != nil, state.delegateEvents == nil, !state.isClosed else { return nil }
        let (events, continuation) = AsyncStream<Delivery>.makeStream()
        state.delegateEvents = continuation
        return events
      }
      if let events { deliver(events) }
    }
  }

  private func deliver(_ events: AsyncStream<Delivery>) {
    // A thread of its own: a delegate that sleeps would hold one of the few that all tasks of the process share.
    Task(executorPreference: OnDemandThread(named: "delegate")) { [weak self] in
      for await delivery in events {
        guard let self, let delegate = self.delegate else { continue }
        await UnhandledDialog.$report.withValue(delivery.hasOtherListeners ? nil : self.unhandled) {
          await delivery.event.tell(delegate)
        }
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
    let (delegateEvents, streams, listeners) = state.withLock { state in
      (state.delegateEvents, Array(state.streams.values), requests.compactMap { state.waiting[$0]?.progress })
    }
    delegateEvents?.yield(Delivery(event: event, hasOtherListeners: !streams.isEmpty || !listeners.isEmpty))
    for stream in streams { stream.yield(event) }
    for listener in listeners { listener(event) }
  }

  func finish(_ request: RequestID, _ outcome: RequestOutcome) {
    let waiting = state.withLock { $0.waiting.removeValue(forKey: request) }
    waiting?.end(outcome)
  }

  /// Nothing comes any more.
  func close() {
    let (waiting, streams, delegateEvents) = state.withLock { state in
      defer {
        state.isClosed = true
        state.waiting = [:]
        state.streams = [:]
      }
      return (Array(state.waiting.values), Array(state.streams.values), state.delegateEvents)
    }
    for one in waiting { one.end(.failed(EntitlementError(.cancelled))) }
    for stream in streams { stream.finish() }
    delegateEvents?.finish()
  }
}
