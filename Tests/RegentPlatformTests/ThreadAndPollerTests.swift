import Glibc
import RegentPlatform
import TestSupport
import Testing

@Suite struct `Dedicated threads` {
  @Test func `join returns to every caller after the thread has ended`() throws {
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

  @Test func `a thread knows whether the caller runs on it`() throws {
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

  @Test func `latency-critical threads ask the scheduler for short time slices`() throws {
    for (turns, wanted) in [(DedicatedThread.Turns.short, "200000"), (.shortest, "100000")] {
      let slice = Shared<Substring?>(nil)
      try DedicatedThread.start(named: "turns", turns: turns) {
        let report = (try? readFile("/proc/thread-self/sched")).map { String(decoding: $0, as: UTF8.self) }
        slice.value = report?.split(separator: "\n").first { $0.hasPrefix("se.slice") }?.split(separator: " ").last
      }.join()
      // Kernels before 6.12 lack this line and ignore the request.
      if let found = slice.value { #expect(found == wanted) }
    }
  }

  @Test(arguments: [(DedicatedThread.BlockedSignals.brokenPipe, false), (.everySignal, true)])
  func `a dedicated thread blocks exactly the signals that it was created with`(
    blocking: DedicatedThread.BlockedSignals, blocksAll: Bool
  ) {
    let blocked = Shared<[[Bool]]>([])
    // The creating thread unblocks both signals first, because threads of the test pool may block them.
    Thread {
      var both = sigset_t()
      unsafe sigemptyset(&both)
      unsafe sigaddset(&both, SIGPIPE)
      unsafe sigaddset(&both, SIGUSR2)
      _ = unsafe pthread_sigmask(SIG_UNBLOCK, &both, nil)
      try? DedicatedThread.start(named: "mask", blocking: blocking) { blocked.value.append(blockedSignals()) }.join()
      blocked.value.append(blockedSignals())
    }.join()
    #expect(
      blocked.value == [[true, blocksAll], [false, false]], "the signal mask of the creating thread is unchanged")
  }
}

@Suite struct `Turns of a busy thread` {
  @Test func `a busy thread yields when its time slice is over, and the next time slice begins then`() {
    var begun: UInt64 = 1_000_000
    DedicatedThread.endTurn(begun: &begun, now: 1_099_999)
    #expect(begun == 1_000_000)
    DedicatedThread.endTurn(begun: &begun, now: 1_100_000)
    #expect(begun == 1_100_000)
    DedicatedThread.endTurn(begun: &begun, now: 1_199_999)
    #expect(begun == 1_100_000)
  }

  @Test func `a busy thread yields at once when the clock has gone back, and later after its usual time slice`() {
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

@Suite struct `The poller (epoll)` {
  @Test func `the poller reports events with the registered token, and none after removal`() throws {
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

  @Test func `the poller returns at most as many events as its capacity, and the rest later`() throws {
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

@Suite struct `Socket addresses` {
  @Test func `a socket address returns the address and port that it was made from`() throws {
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

  @Test func `the kernel can fill in a socket address`() throws {
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

@Suite struct `Error numbers of system calls` {
  @Test func `a failed call returns its own error number, and a successful one returns none`() {
    errno = EPERM
    #expect(attempt { close(-1) }.code == EBADF)
    #expect(attempt { getpid() }.code == 0)
    let missing = unsafe attemptToGet { unsafe opendir("/nothing/here") }
    #expect(unsafe missing.value == nil)
    #expect(unsafe missing.code == ENOENT)
    errno = EPERM
    #expect(attemptToGet { Int?.none }.code == 0, "the errno of an earlier call is ignored")
  }
}

/// A value shared between threads.
private final class Shared<Value: Sendable>: Sendable {
  private let state: Locked<Value>

  init(_ value: Value) { state = Locked(value) }

  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
