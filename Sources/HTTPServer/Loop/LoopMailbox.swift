internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform
internal import Synchronization

/// What other threads tell a loop.
enum LoopMessage: Sendable {
  case adopt(AcceptedConnection)
  case reply(Response, connection: UInt64)
  /// There are too many connections: close some that only wait for a next request.
  case makeRoom
  /// Show that you still read your letters.
  case pulse
  /// Finish what is in flight, and be gone by that time.
  case drain(until: UInt64)
}

/// An accepted connection on its way from the acceptor to a loop.
struct AcceptedConnection: Sendable {
  let descriptor: Int32
  let peer: Peer
  let service: ListenerService
  let countedSource: CountedSource?
}

/// A loop's letter box.
///
/// Writers wake the loop only when it sleeps, and the loop takes all letters at once.
final class LoopMailbox: Sendable {
  let wakeUp: WakeUp
  private let letters = Locked<Letters>(Letters())
  private let isSleeping = Atomic<Bool>(false)

  private struct Letters {
    var messages: [LoopMessage] = []
    var isClosed = false
  }

  init() throws(ServerError) { wakeUp = try makeWakeUp() }

  /// Puts a letter in; returns false when the loop has ended and nobody will read it.
  @discardableResult
  func post(_ message: LoopMessage) -> Bool {
    post(CollectionOfOne(message))
  }

  /// Puts several letters in and wakes the loop once.
  @discardableResult
  func post(_ messages: some Collection<LoopMessage>) -> Bool {
    let isOpen = letters.withLock { letters in
      if !letters.isClosed { letters.messages += messages }
      return !letters.isClosed
    }
    // The lock orders this after the loop's own look into the box (see `sleepUnlessFull`).
    if isOpen, isSleeping.load(ordering: .sequentiallyConsistent),
      isSleeping.exchange(false, ordering: .sequentiallyConsistent)
    {
      wakeUp.signal()
    }
    return isOpen
  }

  /// Announces that the loop is going to sleep; false when there are letters to read first.
  func sleepUnlessFull() -> Bool {
    isSleeping.store(true, ordering: .sequentiallyConsistent)
    // A writer that came before this look is seen here; one that comes after it sees `isSleeping`.
    guard letters.withLock({ $0.messages.isEmpty }) else {
      wake()
      return false
    }
    return true
  }

  func wake() { isSleeping.store(false, ordering: .sequentiallyConsistent) }

  /// Swaps the letters for the empty array `messages`, whose room is used again.
  func take(_ messages: inout [LoopMessage]) {
    letters.withLock { swap(&$0.messages, &messages) }
  }

  /// Takes no more letters and gives the last ones.
  func shut() -> [LoopMessage] {
    letters.withLock { letters in
      letters.isClosed = true
      defer { letters.messages = [] }
      return letters.messages
    }
  }
}
