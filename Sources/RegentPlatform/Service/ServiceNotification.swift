import Glibc

/// Reports the program's state to the service manager (the `sd_notify` protocol), without libsystemd.
///
/// If there is no service manager, the value is nil, so `notification?.ready()` works everywhere.
public struct ServiceNotification: Sendable {
  private let address: SocketAddress
  private let name: String
  private let watchdogMicroseconds: UInt64?

  /// Finds the service manager that the environment names; nil when there is none.
  ///
  /// - Parameters:
  ///   - environment: the process's variables.
  ///   - processID: this process, to check whether the watchdog is meant for it.
  /// - Throws: `SystemError` when `NOTIFY_SOCKET` is set to something that cannot be a socket.
  public init?(environment: [String: String], processID: Int32) throws(SystemError) {
    guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
    guard name.hasPrefix("/") || name.hasPrefix("@") else {
      throw SystemError(operation: "use NOTIFY_SOCKET", subject: name, code: EAFNOSUPPORT)
    }
    self.name = name
    self.address = try SocketAddress(unixPath: name)
    let meant = environment["WATCHDOG_PID"].map { $0 == String(processID) } ?? true
    let interval = environment["WATCHDOG_USEC"].flatMap { UInt64($0) }
    self.watchdogMicroseconds = meant ? interval.flatMap { $0 > 0 ? $0 : nil } : nil
  }

  /// How often to call `watchdog()`: half the manager's limit; nil when the manager does not watch.
  public var watchdogInterval: Duration? {
    watchdogMicroseconds.map { .microseconds(Int64(clamping: $0 / 2)) }
  }

  /// Reports that the program is ready, with a sentence for `systemctl status`.
  public func ready(status: String? = nil) throws(SystemError) {
    try send(["READY=1"] + statusLine(status))
  }

  /// Reports that the program is about to end.
  public func stopping() throws(SystemError) {
    try send(["STOPPING=1"])
  }

  /// Reports that settings are being reloaded.
  ///
  /// Call `ready` when they have been reloaded.
  public func reloading() throws(SystemError) {
    // With Type=notify-reload systemd compares this time with the time at which it sent the reload signal.
    try send(["RELOADING=1", "MONOTONIC_USEC=\(Clocks.monotonicMicroseconds())"])
  }

  /// Sets the sentence that `systemctl status` shows.
  public func status(_ sentence: String) throws(SystemError) {
    try send(statusLine(sentence))
  }

  /// Extends the start timeout to `span` from now.
  ///
  /// The program may extend it again before it is over.
  public func extendTimeout(by span: Duration) throws(SystemError) {
    let microseconds = span.components.seconds * 1_000_000
    try send(["EXTEND_TIMEOUT_USEC=\(microseconds)"])
  }

  /// Reports that the program is alive.
  ///
  /// The program must call this every `watchdogInterval`.
  public func watchdog() throws(SystemError) {
    try send(["WATCHDOG=1"])
  }

  private func statusLine(_ sentence: String?) -> [String] {
    guard let sentence else { return [] }
    // A line break would begin another variable. A text that an attacker can influence could then contain READY=1.
    let line = sentence.unicodeScalars.map { $0.value < 32 ? " " : String($0) }.joined()
    return ["STATUS=\(line)"]
  }

  private func send(_ lines: [String]) throws(SystemError) {
    let socket = FileDescriptor(
      owning: try systemCall("create", on: "a socket") {
        Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
      })
    let number = socket.number
    let message = Array(lines.joined(separator: "\n").utf8)
    try systemCall("notify", on: name) {
      unsafe address.withPointer { pointer, length in
        unsafe sendto(number, message, message.count, CInt(MSG_NOSIGNAL), pointer, length)
      }
    }
  }
}
