import RegentPlatform
import Synchronization

/// Calls servers over http, https and Unix sockets.
///
/// Nothing is started before the first call. All calls of a client share one thread that sleeps until something
/// happens; nothing here blocks the caller's thread, unless the configuration says that calls are made there. Letting
/// the client go ends its thread and cancels what is under way.
public final class Client: Sendable {
  private let configuration: ClientConfiguration
  private let numbers = Atomic<UInt64>(1)
  private let started = Locked<Mailbox?>(nil)
  /// Only where calls are made on the caller's thread: whoever has it makes one.
  private let lent = Mutex<ClientLoop?>(nil)
  private let serverTime: ServerTimeBox

  /// A client; it costs nothing until it is used.
  ///
  /// - Parameter configuration: how all calls behave.
  public init(_ configuration: ClientConfiguration) {
    self.configuration = configuration
    serverTime = ServerTimeBox(configuration.lastSeenServerTime)
  }

  deinit { close() }

  /// The latest time that a server with a good certificate has said, in epoch milliseconds; keep it for the next start.
  public var lastSeenServerTime: Int64 { serverTime.latest }

  /// Makes a call and waits for its answer.
  ///
  /// Cancelling the task cancels the call.
  ///
  /// - Parameter request: the call.
  /// - Returns: the answer, whatever its status.
  /// - Throws: `ClientError` when there is no answer.
  public func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
    let call = newCall()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(request, call) { continuation.resume(returning: $0) }
        // The handler below may have run before the call existed.
        if Task.isCancelled { call.cancel() }
      }
    } onCancel: {
      call.cancel()
    }
    return try result.get()
  }

  /// Makes a call and hands the answer to a closure.
  ///
  /// - Parameters:
  ///   - request: the call.
  ///   - completion: called exactly once: on the client's thread, which it must not block, or by this call itself when
  ///     the request cannot even be started.
  /// - Returns: a handle that can cancel the call.
  @discardableResult
  public func send(
    _ request: ClientRequest,
    completion: @escaping @Sendable (Result<ClientResponse, ClientError>) -> Void
  ) -> ClientCall {
    let call = newCall()
    start(request, call, completion)
    return call
  }

  /// Cancels all calls and closes all connections; later calls fail as cancelled.
  public func close() {
    started.withLock { $0 }?.post(.stop)
  }

  private func newCall() -> ClientCall {
    ClientCall(id: numbers.add(1, ordering: .relaxed).newValue) { [weak self] id in
      self?.started.withLock { $0 }?.post(.cancel(id))
    }
  }

  private func start(
    _ request: ClientRequest, _ call: ClientCall,
    _ completion: @escaping @Sendable (Result<ClientResponse, ClientError>) -> Void
  ) {
    do throws(ClientError) {
      try request.check()
      let mailbox = try startedMailbox(request.url.origin)
      let deadline = Clocks.bootNanoseconds() + request.deadline.wholeNanoseconds
      let ticket = CallTicket(
        id: call.id, request: request, deadline: deadline, completion: completion)
      if configuration.callThread == .callers {
        lent.withLock { $0?.perform(ticket) }
      } else if !mailbox.post(.start(ticket)) {
        completion(.failure(ClientError(.cancelled, request.url.origin)))
      }
    } catch {
      completion(.failure(error))
    }
  }

  private func startedMailbox(_ origin: Origin) throws(ClientError) -> Mailbox {
    do throws(SystemError) {
      return try started.withLock { (started) throws(SystemError) in
        if let mailbox = started { return mailbox }
        let mailbox = try Mailbox()
        switch configuration.callThread {
        case .own: try ClientLoop.start(mailbox, configuration, serverTime)
        case .callers:
          try lent.withLock { (loop) throws(SystemError) in loop = try ClientLoop(mailbox, configuration, serverTime) }
        }
        started = mailbox
        return mailbox
      }
    } catch {
      throw ClientError(.system(error.description), origin)
    }
  }
}

/// A call under way.
public struct ClientCall: Sendable {
  let id: UInt64
  private let onCancel: @Sendable (UInt64) -> Void

  init(id: UInt64, onCancel: @escaping @Sendable (UInt64) -> Void) {
    self.id = id
    self.onCancel = onCancel
  }

  /// Ends the call with `.cancelled`; after the answer this does nothing.
  public func cancel() { onCancel(id) }
}
