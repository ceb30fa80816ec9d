internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform
internal import Synchronization

/// Messages from other threads to a loop.
enum LoopMessage: Sendable {
  case adopt(AcceptedConnection)
  case reply(Response, connection: UInt64)
  /// Close some idle connections, because the server has too many.
  case makeRoom
  /// Count one pulse, which shows that the loop still reads its messages.
  case pulse
  /// Finish the requests in progress, then end the loop; end it at the given time even if requests are left.
  case drain(until: UInt64)
}

/// An accepted connection on its way from the acceptor to a loop.
struct AcceptedConnection: Sendable {
  let descriptor: Int32
  let peer: Peer
  let service: ListenerService
  let countedSource: CountedSource?
}

/// The message queue of a loop.
///
/// Senders wake the loop only if it sleeps, and the loop takes all messages at once.
final class LoopMailbox: Sendable {
  let wakeUp: WakeUp
  private let letters = Locked<Letters>(Letters())
  private let isSleeping = Atomic<Bool>(false)

  private struct Letters {
    var messages: [LoopMessage] = []
    var isClosed = false
  }

  init() throws(ServerError) { wakeUp = try makeWakeUp() }

  /// Adds a message; returns false if the loop has ended, so that the message will not be read.
  @discardableResult
  func post(_ message: LoopMessage) -> Bool {
    post(CollectionOfOne(message))
  }

  /// Adds several messages and wakes the loop once; returns false if the loop has ended.
  @discardableResult
  func post(_ messages: some Collection<LoopMessage>) -> Bool {
    let isOpen = letters.withLock { letters in
      if !letters.isClosed { letters.messages += messages }
      return !letters.isClosed
    }
    // Read `isSleeping` only after the lock: either the loop finds the new message in `sleepUnlessFull`, or this load
    // finds that the loop sleeps.
    if isOpen, isSleeping.load(ordering: .sequentiallyConsistent),
      isSleeping.exchange(false, ordering: .sequentiallyConsistent)
    {
      wakeUp.signal()
    }
    return isOpen
  }

  /// Marks the loop as sleeping; returns false if it must read messages first.
  func sleepUnlessFull() -> Bool {
    isSleeping.store(true, ordering: .sequentiallyConsistent)
    // If a message was added before this check, the check finds it. If a message is added later, its sender sees
    // `isSleeping` and wakes the loop.
    guard letters.withLock({ $0.messages.isEmpty }) else {
      wake()
      return false
    }
    return true
  }

  func wake() { isSleeping.store(false, ordering: .sequentiallyConsistent) }

  /// Swaps the messages with the empty array `messages`, whose capacity is used again.
  func take(_ messages: inout [LoopMessage]) {
    letters.withLock { swap(&$0.messages, &messages) }
  }

  /// Refuses further messages and returns the remaining ones.
  func shut() -> [LoopMessage] {
    letters.withLock { letters in
      letters.isClosed = true
      defer { letters.messages = [] }
      return letters.messages
    }
  }
}
