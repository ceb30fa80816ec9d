public import CRegentLinux
import Glibc

/// An epoll set: the descriptors that a thread waits for, and the events of its last wait.
///
/// A server uses it for every request, so reading an event takes no system call, no copy and no allocation.
@safe public struct Poller: ~Copyable {
  /// The events for which a descriptor is watched, or which have occurred.
  public struct Events: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    @inlinable public static var readable: Events { Events(rawValue: EPOLLIN.rawValue) }
    @inlinable public static var writable: Events { Events(rawValue: EPOLLOUT.rawValue) }
    /// The peer has closed its sending side.
    @inlinable public static var peerClosed: Events { Events(rawValue: EPOLLRDHUP.rawValue) }
    /// An error or a hang-up of the descriptor.
    ///
    /// Always watched for.
    @inlinable public static var failed: Events { Events(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue) }
    /// An option: report readiness once, and again only after more data has arrived.
    @inlinable public static var edgeTriggered: Events { Events(rawValue: EPOLLET.rawValue) }

    /// Whether the two sets have an event in common.
    @inlinable
    public func hasAny(of others: Events) -> Bool { rawValue & others.rawValue != 0 }
  }

  /// The events of one descriptor.
  public struct Event {
    /// The token with which the descriptor was added.
    public let token: UInt64
    public let events: Events

    @inlinable
    init(token: UInt64, events: Events) {
      self.token = token
      self.events = events
    }
  }

  private let epoll: FileDescriptor
  @usableFromInline let capacity: Int
  @usableFromInline let happened: UnsafeMutablePointer<epoll_event>

  /// Creates a set without descriptors.
  ///
  /// - Parameter capacity: the most events that one `wait` returns.
  /// - Throws: `SystemError` when no descriptor is available.
  public init(capacity: Int) throws(SystemError) {
    epoll = FileDescriptor(
      owning: try systemCall("create", on: "an event queue") { epoll_create1(CInt(EPOLL_CLOEXEC)) })
    self.capacity = capacity
    unsafe happened = .allocate(capacity: capacity)
    unsafe happened.initialize(repeating: epoll_event(), count: capacity)
  }

  deinit { unsafe happened.deallocate() }

  /// Starts watching a descriptor.
  ///
  /// Its events have this token.
  public func add(_ number: CInt, _ events: Events, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_ADD, number, events, token)
  }

  public func change(_ number: CInt, _ events: Events, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_MOD, number, events, token)
  }

  /// Stops watching a descriptor.
  ///
  /// The kernel does this by itself when the descriptor is closed.
  public func remove(_ number: CInt) {
    _ = epoll_ctl(epoll.number, EPOLL_CTL_DEL, number, nil)
  }

  /// Waits until an event occurs or the time is over.
  ///
  /// If the time is negative, there is no limit.
  ///
  /// - Returns: the number of events; 0 when the time was over or a signal arrived.
  public func wait(milliseconds: CInt) -> Int {
    max(0, Int(unsafe epoll_wait(epoll.number, happened, CInt(capacity), milliseconds)))
  }

  /// An event of the last `wait`.
  @inlinable
  public func event(_ index: Int) -> Event {
    precondition(index >= 0 && index < capacity)
    let event = unsafe happened[index]
    return unsafe Event(token: event.data.u64, events: Events(rawValue: event.events))
  }

  private func control(
    _ operation: CInt, _ number: CInt, _ events: Events, _ token: UInt64
  ) throws(SystemError) {
    let epoll = epoll.number
    var event = unsafe epoll_event()
    unsafe event.events = events.rawValue
    unsafe event.data.u64 = token
    try systemCall("watch", on: "descriptor \(number)") { unsafe epoll_ctl(epoll, operation, number, &event) }
  }
}
