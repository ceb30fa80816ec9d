import Glibc
import TestSupport
import Testing

@testable import RegentPlatform

@Suite struct ServiceTests {
  @Test(arguments: [false, true])
  func `systemd is notified through a socket path and through an abstract socket`(abstract: Bool) throws {
    try withTemporaryFolder { folder in
      let name = abstract ? "@\(folder)/notify" : "\(folder)/notify"
      let manager = try Manager(name)
      let found = try ServiceNotification(environment: ["NOTIFY_SOCKET": name], processID: 1)
      let notification = try #require(found)
      try notification.ready(status: "serving")
      #expect(manager.hear() == "READY=1\nSTATUS=serving")
      try notification.status("two\nREADY=1")
      #expect(manager.hear() == "STATUS=two READY=1")
      try notification.watchdog()
      #expect(manager.hear() == "WATCHDOG=1")
      try notification.extendTimeout(by: .seconds(300))
      #expect(manager.hear() == "EXTEND_TIMEOUT_USEC=300000000")
      let before = Clocks.monotonicMicroseconds()
      try notification.reloading()
      let reload = manager.hear().split(separator: "\n")
      #expect(reload.first == "RELOADING=1")
      let time = try #require(UInt64(reload.last?.dropFirst("MONOTONIC_USEC=".count) ?? ""))
      #expect(time >= before && time <= Clocks.monotonicMicroseconds())
      try notification.stopping()
      #expect(manager.hear() == "STOPPING=1")
    }
  }

  @Test func `without systemd there is no notification`() throws {
    #expect(try ServiceNotification(environment: [:], processID: 1) == nil)
    #expect(try ServiceNotification(environment: ["NOTIFY_SOCKET": ""], processID: 1) == nil)
  }

  @Test(arguments: ["relative", "vsock:2:1", "/" + String(repeating: "x", count: 108)])
  func `an invalid socket name is refused`(name: String) {
    #expect(throws: SystemError.self) {
      try ServiceNotification(environment: ["NOTIFY_SOCKET": name], processID: 1)
    }
  }

  @Test func `a notification without a receiver is an error that names the socket`() throws {
    let notification = try ServiceNotification(
      environment: ["NOTIFY_SOCKET": "/nonexistent/notify"], processID: 1)
    let error = #expect(throws: SystemError.self) { try notification?.ready() }
    #expect(
      error?.description == "cannot notify /nonexistent/notify: No such file or directory")
  }

  @Test(
    arguments: [
      (["WATCHDOG_USEC": "20000000"], .seconds(10)),
      (["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "7"], .seconds(10)),
      (["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "8"], nil),
      (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "soon"], nil), ([:], nil),
    ] as [([String: String], Duration?)])
  func `the watchdog interval is half of what systemd allows`(
    variables: [String: String], interval: Duration?
  ) throws {
    let environment = variables.merging(["NOTIFY_SOCKET": "/x"]) { one, _ in one }
    let notification = try ServiceNotification(environment: environment, processID: 7)
    #expect(notification?.watchdogInterval == interval)
  }

  @Test(
    arguments: [
      (["LISTEN_PID": "7", "LISTEN_FDS": "2"], [("unknown", 3), ("unknown", 4)]),
      (
        ["LISTEN_PID": "7", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "web::admin"],
        [("web", 3), ("unknown", 4), ("admin", 5)]
      ),
      (["LISTEN_PID": "8", "LISTEN_FDS": "2"], []), (["LISTEN_FDS": "2"], []),
      (["LISTEN_PID": "7", "LISTEN_FDS": "-1"], []), (["LISTEN_PID": "7", "LISTEN_FDS": "x"], []),
      (["LISTEN_PID": "7", "LISTEN_FDS": "99999999"], []),
    ] as [([String: String], [(String, Int32)])])
  func `inherited sockets are used only if they are meant for this process`(
    environment: [String: String], sockets: [(String, Int32)]
  ) {
    let found = SocketActivation.announced(environment: environment, processID: 7)
    #expect(found == sockets.map { InheritedSocket(name: $0.0, number: $0.1) })
  }

  @Test func `users, groups and the process at the other end of a socket are looked up`() throws {
    let root = try #require(try Accounts.user(named: "root"))
    #expect(root == UserAccount(name: "root", id: 0, group: 0, home: "/root"))
    #expect(try Accounts.user(id: 0) == root)
    #expect(Accounts.title(of: 0) == "root" && Accounts.title(of: 4_000_000_001, numberedBy: "#") == "#4000000001")
    #expect(try Accounts.group(named: "root") == 0)
    #expect(try Accounts.user(named: "nobody-of-this-name") == nil)
    #expect(try Accounts.group(named: "nobody-of-this-name") == nil)
    #expect(throws: SystemError.self) { try Accounts.user(named: "ro\0ot") }

    var pair: [Int32] = [-1, -1]
    #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let one = FileDescriptor(owning: pair[0])
    let other = FileDescriptor(owning: pair[1])
    let peer = try UnixCredentials(peerOf: one.number)
    #expect(peer.process == getpid())
    #expect(peer.user == getuid())
    #expect(peer.isMember(of: getgid()))
    #expect(!peer.isMember(of: 987_654))
    try other.close()
  }

  @Test func `the environment is read unchanged`() {
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) }
    #expect(ProcessEnvironment.all()["PATH"] == path)
  }
}

/// The receiver of notifications, a datagram socket like systemd's.
private final class Manager {
  private let number: Int32

  init(_ name: String) throws {
    number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let bound = unsafe try SocketAddress(unixPath: name).withPointer { unsafe bind(number, $0, $1) }
    guard bound == 0 else { throw TestSupportError("cannot bind \(name): errno \(errno)") }
  }

  deinit { close(number) }

  func hear() -> String {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe recv(number, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
