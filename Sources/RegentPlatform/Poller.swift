public import CRegentLinux
import Glibc

/// An epoll set: the descriptors that one thread waits for, and the events that came last.
///
/// The loop of a server comes by here for every request, so an event costs no call, no copy and no memory of its own.
@safe public struct Poller: ~Copyable {
  /// What a descriptor is watched for, and what happened to it.
  public struct Events: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    @inlinable public static var readable: Events { Events(rawValue: EPOLLIN.rawValue) }
    @inlinable public static var writable: Events { Events(rawValue: EPOLLOUT.rawValue) }
    /// The other side says no more.
    @inlinable public static var peerClosed: Events { Events(rawValue: EPOLLRDHUP.rawValue) }
    /// Either sign of a descriptor that is broken; always watched for.
    @inlinable public static var failed: Events { Events(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue) }
    /// Say it once, and again only when more has come.
    @inlinable public static var edgeTriggered: Events { Events(rawValue: EPOLLET.rawValue) }

    /// Whether at least one of them is among these.
    @inlinable
    public func hasAny(of others: Events) -> Bool { rawValue & others.rawValue != 0 }
  }

  /// What happened to one descriptor.
  public struct Event {
    /// What the descriptor was watched under.
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

  /// An empty set.
  ///
  /// - Parameter capacity: how many events one `wait` brings at most.
  /// - Throws: `SystemError` when no descriptor is left.
  public init(capacity: Int) throws(SystemError) {
    epoll = FileDescriptor(
      owning: try systemCall("create", on: "an event queue") { epoll_create1(CInt(EPOLL_CLOEXEC)) })
    self.capacity = capacity
    unsafe happened = .allocate(capacity: capacity)
    unsafe happened.initialize(repeating: epoll_event(), count: capacity)
  }

  deinit { unsafe happened.deallocate() }

  /// Begins to watch a descriptor; its events carry the token.
  public func add(_ number: CInt, _ events: Events, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_ADD, number, events, token)
  }

  /// Watches a descriptor for other events.
  public func change(_ number: CInt, _ events: Events, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_MOD, number, events, token)
  }

  /// Forgets a descriptor; one that is closed is forgotten by itself.
  public func remove(_ number: CInt) {
    _ = epoll_ctl(epoll.number, EPOLL_CTL_DEL, number, nil)
  }

  /// Sleeps until something happens or the time is over; a negative time is for ever.
  ///
  /// - Returns: how many events there are to look at; none when the time was over or a signal came.
  public func wait(milliseconds: CInt) -> Int {
    max(0, Int(unsafe epoll_wait(epoll.number, happened, CInt(capacity), milliseconds)))
  }

  /// One of the events of the last `wait`.
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
