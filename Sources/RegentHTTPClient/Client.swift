import RegentPlatform
import Synchronization

/// An HTTP client for http, https and Unix sockets.
///
/// The first call starts the client's thread, which all calls share and which sleeps while there is nothing to do. No
/// call blocks the caller's thread, unless ``ClientConfiguration/callThread`` says that calls run there. When the
/// client is released, its thread ends and its calls are cancelled.
public final class Client: Sendable {
  private let configuration: ClientConfiguration
  private let numbers = Atomic<UInt64>(1)
  private let started = Locked<Mailbox?>(nil)
  /// The loop of a client whose calls run on the callers' threads (``ClientConfiguration/CallThread/callers``).
  ///
  /// The caller that holds the lock makes its call with it.
  private let lent = Mutex<ClientLoop?>(nil)
  private let serverTime: ServerTimeBox

  /// Makes a client.
  ///
  /// It uses no resources until its first call.
  public init(_ configuration: ClientConfiguration) {
    self.configuration = configuration
    serverTime = ServerTimeBox(configuration.lastSeenServerTime)
  }

  deinit { close() }

  /// The latest time in the responses of servers with a valid certificate, in epoch milliseconds.
  ///
  /// Store it for the next start of the program.
  public var lastSeenServerTime: Int64 { serverTime.latest }

  /// Makes a call and waits for the response.
  ///
  /// Cancelling the task cancels the call.
  ///
  /// - Returns: the response, whatever its status.
  /// - Throws: `ClientError` if there is no response.
  public func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
    let call = newCall()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(request, call) { continuation.resume(returning: $0) }
        // The task may have been cancelled before the call was started. Then `onCancel` has found no call.
        if Task.isCancelled { call.cancel() }
      }
    } onCancel: {
      call.cancel()
    }
    return try result.get()
  }

  /// Makes a call and passes the response to a closure.
  ///
  /// - Parameters:
  ///   - request: the call.
  ///   - completion: called exactly once on the client's thread, which it must not block; if the request cannot be
  ///     started, it is called before this function returns.
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

  /// Cancels all calls and closes all connections; later calls fail with `.cancelled`.
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

/// A handle of a call in progress.
public struct ClientCall: Sendable {
  let id: UInt64
  private let onCancel: @Sendable (UInt64) -> Void

  init(id: UInt64, onCancel: @escaping @Sendable (UInt64) -> Void) {
    self.id = id
    self.onCancel = onCancel
  }

  /// Ends the call with `.cancelled`.
  ///
  /// It has no effect after the response.
  public func cancel() { onCancel(id) }
}
