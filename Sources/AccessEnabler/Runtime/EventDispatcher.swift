import RegentPlatform

/// Delivers events to the delegate and the event streams, and results to waiting calls.
final class EventDispatcher: Sendable {
  private struct Waiting: Sendable {
    var end: @Sendable (RequestOutcome) -> Void
    var progress: (@Sendable (EntitlementEvent) -> Void)?
  }

  private struct EventDispatcherState: Sendable {
    var waiting: [RequestID: Waiting] = [:]
    var streams: [Int: AsyncStream<EntitlementEvent>.Continuation] = [:]
    var lastStream = 0
    var isClosed = false
    weak var delegate: (any EntitlementDelegate)?
    /// The events for the delegate, read by a task of its own, so that a slow delegate does not block the state
    /// machine.
    ///
    /// nil until a delegate is set.
    var delegateEvents: AsyncStream<Delivery>.Continuation?
  }

  private struct Delivery: Sendable {
    var event: EntitlementEvent
    var hasOtherListeners: Bool
  }

  private let state = Locked(EventDispatcherState())
  private let unhandled: @Sendable (ProviderDialog) -> Void

  /// - Parameters:
  ///   - delegate: the app's delegate.
  ///   - unhandled: called with a dialog that the delegate does not handle while there is no other listener.
  init(_ delegate: (any EntitlementDelegate)?, unhandled: @escaping @Sendable (ProviderDialog) -> Void) {
    self.unhandled = unhandled
    self.delegate = delegate
  }

  /// The app's delegate.
  ///
  /// A callback goes to the delegate that is set when the callback is delivered.
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
    // The callbacks run on a thread of their own. A delegate that blocks would otherwise block one of the few threads
    // that all tasks of the process share.
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

  /// Passes an event to the delegate and all streams, and to the calls for which it is reported.
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

  /// Ends all streams and fails all waiting calls.
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
