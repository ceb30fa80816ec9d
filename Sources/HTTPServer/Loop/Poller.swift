internal import CRegentLinux
internal import Glibc

/// An epoll set and the events it gave last.
@safe final class Poller {
  static let readable = EPOLLIN.rawValue
  static let writable = EPOLLOUT.rawValue
  static let peerClosed = EPOLLRDHUP.rawValue
  static let failed = EPOLLERR.rawValue | EPOLLHUP.rawValue
  static let edgeTriggered = EPOLLIN.rawValue | EPOLLET.rawValue

  private let descriptor: Int32
  private static let capacity = 256
  private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)

  init() throws(ServerError) {
    unsafe events.initialize(repeating: epoll_event(), count: Poller.capacity)
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard descriptor >= 0 else { throw .resources(reason: "epoll: \(errorText(errno))") }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    unsafe events.deallocate()
  }

  /// Begins to watch a descriptor; its events carry `id`.
  func watch(_ watched: Int32, _ id: UInt64, _ interest: UInt32) -> Bool {
    control(EPOLL_CTL_ADD, watched, id, interest)
  }

  /// Watches for other events.
  func change(_ watched: Int32, _ id: UInt64, _ interest: UInt32) {
    _ = control(EPOLL_CTL_MOD, watched, id, interest)
  }

  private func control(_ verb: Int32, _ watched: Int32, _ id: UInt64, _ interest: UInt32) -> Bool {
    var event = unsafe epoll_event()
    unsafe event.events = interest
    unsafe event.data.u64 = id
    return unsafe epoll_ctl(descriptor, verb, watched, &event) == 0
  }

  /// Waits for events and tells how many came; a negative time is for ever.
  func wait(milliseconds: Int32) -> Int {
    let count = unsafe epoll_wait(descriptor, events, Int32(Poller.capacity), milliseconds)
    return max(0, Int(count))
  }

  /// One of the events that came.
  @inline(__always)
  func event(_ index: Int) -> (id: UInt64, events: UInt32) {
    precondition(index >= 0 && index < Poller.capacity)
    let event = unsafe events[index]
    return unsafe (event.data.u64, event.events)
  }
}

/// Where a loop receives: one buffer for all its connections, as bytes do not stay in it.
@safe final class ReceiveBuffer {
  static let capacity = 64 * 1024
  private let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)

  deinit { unsafe bytes.deallocate() }

  /// Has `fill` write into the buffer and return how many bytes it wrote, or nothing good (0 or less).
  @inline(__always)
  func fill(_ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> Int { unsafe fill(bytes) }

  /// Lends the first `count` bytes.
  @inline(__always)
  func with<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    body(unsafe UnsafeBufferPointer(bytes).span.extracting(first: count))
  }
}
