import RegentPlatform
import Synchronization

/// A call as the caller handed it to the client's thread.
struct CallTicket: Sendable {
  let id: UInt64
  let request: ClientRequest
  /// The deadline of the call in nanoseconds of the boot-time clock.
  let deadline: UInt64
  let completion: @Sendable (Result<ClientResponse, ClientError>) -> Void
}

/// Messages from other threads to the client's thread.
enum Command: Sendable {
  case start(CallTicket)
  case cancel(UInt64)
  case lookedUp(HostAndPort, Result<[SocketAddress], ClientError.Kind>)
  case stop
}

/// The queue of commands for the client's thread.
final class Mailbox: Sendable {
  let wakeUp: WakeUp
  private let state = Locked<MailboxState>(MailboxState())

  private struct MailboxState {
    var commands: [Command] = []
    var isClosed = false
  }

  init() throws(SystemError) { wakeUp = try WakeUp() }

  /// Adds a command and wakes the thread.
  ///
  /// - Returns: false if the thread has ended, so that the command will not be read.
  @discardableResult
  func post(_ command: Command) -> Bool {
    let isTaken = state.withLock { state in
      guard !state.isClosed else { return false }
      state.commands.append(command)
      return true
    }
    if isTaken { wakeUp.signal() }
    return isTaken
  }

  func take() -> [Command] {
    wakeUp.clear()
    return state.withLock { state in
      defer { state.commands = [] }
      return state.commands
    }
  }

  /// Makes the mailbox refuse further commands.
  ///
  /// - Returns: the commands that were not yet taken.
  func close() -> [Command] {
    state.withLock { state in
      state.isClosed = true
      defer { state.commands = [] }
      return state.commands
    }
  }
}

/// The latest time in the responses of trusted servers, in epoch milliseconds; shared between threads.
final class ServerTimeBox: Sendable {
  private let milliseconds: Atomic<Int64>

  init(_ start: Int64) { milliseconds = Atomic(start) }

  var latest: Int64 { milliseconds.load(ordering: .relaxed) }

  func note(_ time: Int64) { milliseconds.max(time, ordering: .relaxed) }
}
