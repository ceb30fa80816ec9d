internal import CRegentLinux
internal import Glibc
internal import Synchronization

/// The status and the output of a program that has ended.
public struct FinishedProgram: Sendable {
  /// The exit code, or 128 plus the signal that ended it, as in a shell.
  public let status: Int32
  public let output: [UInt8]
  public let errors: [UInt8]

  public var outputText: String { String(decoding: output, as: UTF8.self) }
  public var errorText: String { String(decoding: errors, as: UTF8.self) }
}

/// Runs a program to its end and returns what it printed.
///
/// The program gets exactly `environment` if given, otherwise the test's environment. After `deadline` seconds it is
/// killed and an error is thrown.
public func run(
  _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
  input: [UInt8] = [], deadline: Int = 2 * patience
) throws -> FinishedProgram {
  try withTemporaryFolder { folder in
    // Files, because with pipes the test and the program could block each other when the output is large.
    try writeFile("\(folder)/in", input)
    let running = try RunningProgram(
      program, arguments, environment: environment,
      standardInput: "\(folder)/in", standardOutput: "\(folder)/out", standardError: "\(folder)/err"
    )
    let status = try running.wait(deadline: deadline)
    return FinishedProgram(
      status: status, output: try readFile("\(folder)/out"), errors: try readFile("\(folder)/err"))
  }
}

/// A program that runs beside the test; it is killed on deinit.
public final class RunningProgram {
  /// The process id, for signals and /proc.
  public let pid: Int32
  private var ended: Int32?

  /// Starts a program; the three files default to /dev/null, and output files are created.
  public init(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
    standardInput: String = "/dev/null", standardOutput: String = "/dev/null",
    standardError: String = "/dev/null"
  ) throws {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let write = O_WRONLY | O_CREAT | O_APPEND
    unsafe posix_spawn_file_actions_addopen(&actions, 0, standardInput, O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, standardOutput, write, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, standardError, write, 0o600)
    // A descriptor that leaks from a parallel test into the child would keep that test's sockets open.
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)

    let found = program.contains("/") ? program : installedProgram(program)
    guard let found else { throw TestSupportError("\(program) is not installed") }
    var pid: pid_t = 0
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Test runners may block signals in their threads, and a child inherits the mask; the child must have none blocked.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let result = unsafe withCStrings([found] + arguments) { argv in
      guard let environment else {
        return unsafe posix_spawn(&pid, found, &actions, &attributes, argv, Glibc.environ)
      }
      return unsafe withCStrings(settings(environment)) { envp in
        unsafe posix_spawn(&pid, found, &actions, &attributes, argv, envp)
      }
    }
    guard result == 0 else { throw TestSupportError("cannot start \(found): errno \(result)") }
    self.pid = pid
  }

  deinit {
    if ended == nil {
      kill(pid, SIGKILL)
      _ = waitpid(pid, nil, 0)
    }
  }

  public func signal(_ number: Int32) {
    if ended == nil { kill(pid, number) }
  }

  /// The exit code if the program has ended, otherwise nil.
  public func poll() -> Int32? {
    if let ended { return ended }
    var status: Int32 = 0
    guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return nil }
    ended = exitCode(status)
    return ended
  }

  /// Waits until the program ends; after `deadline` seconds kills it and throws.
  public func wait(deadline: Int = 2 * patience) throws -> Int32 {
    if let code = try? eventually("the end", within: deadline, { poll() }) { return code }
    kill(pid, SIGKILL)
    var status: Int32 = 0
    _ = unsafe waitpid(pid, &status, 0)
    ended = exitCode(status)
    throw TestSupportError("process \(pid) did not end within \(deadline) s and was killed")
  }

  private func exitCode(_ status: Int32) -> Int32 {
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }
}

/// Returns an unused TCP port of the loopback address that no other call in this process got.
///
/// It lies outside the range from which the kernel picks ports for outgoing connections. Otherwise a connection of
/// another test could take it before the program listens there.
public func freePort() throws -> UInt16 {
  for _ in 0..<1_000 {
    let step = portsGiven.wrappingAdd(1, ordering: .relaxed).newValue
    // The process id spreads test processes that run at the same time over the range. Their ids are often neighbours,
    // and each may need more than a thousand ports.
    let port = UInt16(10_000 + (UInt(getpid()) &* 2_003 &+ UInt(step)) % 22_000)
    if isFree(port) { return port }
  }
  throw TestSupportError("no free port among a thousand that were tried")
}

private let portsGiven = Atomic<UInt>(0)

private func isFree(_ port: UInt16) -> Bool {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  return unsafe withUnsafeMutablePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
}

/// Calls `body` with a null-terminated array of C strings that lives for the call.
private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
    // The array has at least its terminating nil, so it has an address.
    unsafe body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
  }
}

/// An environment as `NAME=value` lines.
private func settings(_ given: [String: String]) -> [String] {
  given.merging(inheritedSettings) { mine, _ in mine }.map { "\($0.key)=\($0.value)" }
}

/// Environment variables that every started program inherits: the options of the sanitizers, and the name of the
/// mutation that is switched on (Tests/mutations).
public var inheritedSettings: [String: String] {
  var all: [String: String] = [:]
  for name in ["ASAN_OPTIONS", "TSAN_OPTIONS", "REGENT_PLANTED"] { all[name] = environment(name) }
  return all
}
