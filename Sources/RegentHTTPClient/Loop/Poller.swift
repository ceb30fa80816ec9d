import CRegentLinux
import Glibc
import RegentPlatform

/// The kernel's list of descriptors that the client's thread waits for.
struct Poller: ~Copyable {
  struct Interest: OptionSet {
    let rawValue: UInt32
    static let input = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
    static let output = Interest(rawValue: EPOLLOUT.rawValue)
  }

  struct Event {
    let token: UInt64
    let isReadable: Bool
    let isWritable: Bool
    let isBroken: Bool
  }

  private let epoll: FileDescriptor

  init() throws(SystemError) {
    epoll = FileDescriptor(
      owning: try systemCall("create", on: "an event queue") {
        epoll_create1(CInt(EPOLL_CLOEXEC))
      })
  }

  func add(_ number: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_ADD, number, interest, token)
  }

  func change(_ number: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_MOD, number, interest, token)
  }

  /// Forgets a descriptor; one that is closed is forgotten by itself.
  func remove(_ number: CInt) {
    _ = epoll_ctl(epoll.number, EPOLL_CTL_DEL, number, nil)
  }

  /// Sleeps until something happens or the time is over; -1 means for ever.
  ///
  /// - Returns: what happened; empty when the time was over or a signal came.
  func wait(milliseconds: CInt) -> [Event] {
    var events = unsafe [epoll_event](repeating: epoll_event(), count: 64)
    let count = unsafe epoll_wait(epoll.number, &events, CInt(events.count), milliseconds)
    guard count > 0 else { return [] }
    return unsafe events.prefix(Int(count)).map { event in
      let happened = unsafe event.events
      let isBroken = happened & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
      return unsafe Event(
        token: event.data.u64,
        isReadable: isBroken || happened & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0,
        isWritable: isBroken || happened & EPOLLOUT.rawValue != 0,
        isBroken: isBroken)
    }
  }

  private func control(
    _ operation: CInt, _ number: CInt, _ interest: Interest, _ token: UInt64
  ) throws(SystemError) {
    let epoll = epoll.number
    var event = unsafe epoll_event()
    unsafe event.events = interest.rawValue
    unsafe event.data.u64 = token
    try systemCall("watch", on: "descriptor \(number)") {
      unsafe epoll_ctl(epoll, operation, number, &event)
    }
  }
}
