import Glibc
import RegentPlatform
import TestSupport
import Testing

@Suite struct `A thread of our own` {
  @Test func `has ended when join returns, for every caller`() throws {
    let done = Shared(false)
    let thread = try DedicatedThread.start(named: "work") {
      pass(milliseconds: 20)
      done.value = true
    }
    let other = Thread { thread.join() }
    thread.join()
    #expect(done.value)
    other.join()
    thread.join()
  }

  @Test func `knows whether the caller runs on it`() throws {
    let own = Shared<DedicatedThread?>(nil)
    let answer = Shared<Bool?>(nil)
    let isKept = Flag("the thread is kept")
    let thread = try DedicatedThread.start(named: "who") {
      _ = try? isKept.block()
      answer.value = own.value?.isCurrent
    }
    own.value = thread
    #expect(!thread.isCurrent)
    isKept.raise()
    thread.join()
    #expect(answer.value == true)
    #expect(!thread.isCurrent)
    own.value = nil
  }

  @Test func `threads on which answers depend ask for short turns`() throws {
    for (turns, wanted) in [(DedicatedThread.Turns.short, "200000"), (.shortest, "100000")] {
      let slice = Shared<Substring?>(nil)
      try DedicatedThread.start(named: "turns", turns: turns) {
        let report = (try? readFile("/proc/thread-self/sched")).map { String(decoding: $0, as: UTF8.self) }
        slice.value = report?.split(separator: "\n").first { $0.hasPrefix("se.slice") }?.split(separator: " ").last
      }.join()
      // Kernels before 6.12 have no such line, and do not know the wish.
      if let found = slice.value { #expect(found == wanted) }
    }
  }

  @Test(arguments: [(DedicatedThread.BlockedSignals.brokenPipe, false), (.everySignal, true)])
  func `takes the signals it was made for`(blocking: DedicatedThread.BlockedSignals, blocksAll: Bool) {
    let blocked = Shared<[[Bool]]>([])
    // Made by a thread that takes both: those of the test pool may not.
    Thread {
      var both = sigset_t()
      unsafe sigemptyset(&both)
      unsafe sigaddset(&both, SIGPIPE)
      unsafe sigaddset(&both, SIGUSR2)
      _ = unsafe pthread_sigmask(SIG_UNBLOCK, &both, nil)
      try? DedicatedThread.start(named: "mask", blocking: blocking) { blocked.value.append(blockedSignals()) }.join()
      blocked.value.append(blockedSignals())
    }.join()
    #expect(blocked.value == [[true, blocksAll], [false, false]], "its maker's mask is as it was")
  }
}

@Suite struct `The turns of a thread that works long` {
  @Test func `end when they were long enough, and the next begins there`() {
    var begun: UInt64 = 1_000_000
    DedicatedThread.endTurn(begun: &begun, now: 1_099_999)
    #expect(begun == 1_000_000)
    DedicatedThread.endTurn(begun: &begun, now: 1_100_000)
    #expect(begun == 1_100_000)
    DedicatedThread.endTurn(begun: &begun, now: 1_199_999)
    #expect(begun == 1_100_000)
  }

  @Test func `end at once when the clock is before their beginning, and not each time from then on`() {
    var begun: UInt64 = 1_000_000
    DedicatedThread.endTurn(begun: &begun, now: 5)
    #expect(begun == 5)
    DedicatedThread.endTurn(begun: &begun, now: 6)
    #expect(begun == 5)
  }
}

/// Whether the calling thread blocks SIGPIPE, and SIGUSR2.
private func blockedSignals() -> [Bool] {
  var mask = sigset_t()
  _ = unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
  return [SIGPIPE, SIGUSR2].map { unsafe sigismember(&mask, $0) == 1 }
}

@Suite struct `An epoll set` {
  @Test func `says what happened to whom, and forgets whom it is told to`() throws {
    let poller = try Poller(capacity: 4)
    let one = try WakeUp()
    let two = try WakeUp()
    try poller.add(one.number, .readable, token: 7)
    try poller.add(two.number, [.readable, .writable], token: .max)
    #expect(poller.wait(milliseconds: 0) == 1)
    #expect(poller.event(0).token == .max)
    #expect(poller.event(0).events == .writable)
    one.signal()
    try poller.change(two.number, .readable, token: 8)
    #expect(poller.wait(milliseconds: 1000) == 1)
    #expect(poller.event(0).token == 7)
    #expect(poller.event(0).events.hasAny(of: [.failed, .readable]))
    poller.remove(one.number)
    #expect(poller.wait(milliseconds: 0) == 0)
    #expect(throws: SystemError.self) { try poller.change(one.number, .readable, token: 7) }
  }

  @Test func `brings no more than it has room for`() throws {
    let poller = try Poller(capacity: 1)
    let one = try WakeUp()
    let two = try WakeUp()
    one.signal()
    two.signal()
    try poller.add(one.number, [.readable, .edgeTriggered], token: 1)
    try poller.add(two.number, [.readable, .edgeTriggered], token: 2)
    var tokens: Set<UInt64> = []
    for _ in 0..<2 where poller.wait(milliseconds: 1000) == 1 { tokens.insert(poller.event(0).token) }
    #expect(tokens == [1, 2])
    #expect(poller.wait(milliseconds: 0) == 0)
  }
}

@Suite struct `A socket address` {
  @Test func `gives back what it was made of`() throws {
    let four = SocketAddress(ipv4: 0x7F00_0001, port: 8787)
    #expect(four.family == AF_INET)
    #expect(four.ipv4?.bits == 0x7F00_0001 && four.ipv4?.port == 8787)
    #expect(four.ipv6 == nil && four.numericHost == "127.0.0.1")
    let six = SocketAddress(ipv6: (high: 0x2001_0DB8_0000_0000, low: 1), port: 80)
    #expect(six.ipv6?.halves.high == 0x2001_0DB8_0000_0000 && six.ipv6?.halves.low == 1 && six.ipv6?.port == 80)
    #expect(six.ipv4 == nil && six.numericHost == "2001:db8::1")
    let local = try SocketAddress(unixPath: "/run/x")
    #expect(local.ipv4 == nil && local.ipv6 == nil && local.numericHost == nil)
  }

  @Test func `is filled by the kernel`() throws {
    let socket = FileDescriptor(owning: try systemCall("make") { Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) })
    let number = socket.number
    try systemCall("bind") {
      unsafe SocketAddress(ipv4: 0x7F00_0001, port: 0).withPointer { unsafe bind(number, $0, $1) }
    }
    var bound = SocketAddress()
    try systemCall("ask") { unsafe bound.fill { unsafe getsockname(number, $0, $1) } }
    #expect(bound.ipv4?.bits == 0x7F00_0001)
    #expect((bound.ipv4?.port ?? 0) != 0)
  }
}

@Suite struct `The reason of a failed call` {
  @Test func `is that of the call, and none when it did not fail`() {
    errno = EPERM
    #expect(attempt { close(-1) }.code == EBADF)
    #expect(attempt { getpid() }.code == 0)
    let missing = unsafe attemptToGet { unsafe opendir("/nothing/here") }
    #expect(unsafe missing.value == nil)
    #expect(unsafe missing.code == ENOENT)
    errno = EPERM
    #expect(attemptToGet { Int?.none }.code == 0, "what an earlier call left is not the reason")
  }
}

/// A value that two threads hand to one another.
private final class Shared<Value: Sendable>: Sendable {
  private let state: Locked<Value>

  init(_ value: Value) { state = Locked(value) }

  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
