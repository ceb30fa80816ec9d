import CRegentLinux
public import Glibc

// No other file may use `errno` (ArchitectureTests check that). The value of `errno` belongs to the thread, and any
// later call may overwrite it, even one that Swift makes to free memory. Other files make their calls through these
// functions.

/// Runs a system call and repeats it while signals interrupt it.
///
/// Use ``attempt(_:)`` for two calls that must not be repeated: `close` (the descriptor is closed even after `EINTR`)
/// and `connect` (it continues in the background).
///
/// - Parameters:
///   - operation: what the call does, to complete the error message "cannot OPERATION SUBJECT".
///   - subject: what it works on; only evaluated when the call fails.
///   - body: the call; a result of -1 means failure.
/// - Returns: what the call returned.
/// - Throws: `SystemError` with the call's `errno`.
@discardableResult
public func systemCall<Result: SignedInteger>(
  _ operation: StaticString, on subject: @autoclosure () -> String = "", _ body: () -> Result
) throws(SystemError) -> Result {
  while true {
    let (result, code) = attempt(body)
    if code == 0 { return result }
    if code == EINTR { continue }
    throw SystemError(operation: "\(operation)", subject: subject(), code: code)
  }
}

/// Runs a system call once, also if a signal interrupts it.
///
/// - Parameter body: the call and nothing else; a result of -1 means failure.
/// - Returns: its result and its `errno`, which is 0 when it did not fail.
@inlinable @inline(__always)
public func attempt<Result: SignedInteger>(_ body: () -> Result) -> (result: Result, code: CInt) {
  let result = body()
  return (result, result == -1 ? errno : 0)
}

/// Runs a C function that returns null when it fails.
///
/// - Parameter body: the call and nothing else.
/// - Returns: its result and its `errno`. A null result with 0 is no error, for example the end of a directory.
public func attemptToGet<Value>(_ body: () -> Value?) -> (value: Value?, code: CInt) {
  errno = 0
  guard let value = body() else { return (nil, errno) }
  return (value, 0)
}

/// Runs code inside a signal handler and restores the interrupted thread's `errno` afterwards.
func keepingErrno(_ body: () -> Void) {
  let code = errno
  body()
  errno = code
}

/// A failed system call: the operation, its subject, and the kernel's reason.
public struct SystemError: Error, Equatable, Sendable {
  /// The operation that failed, to follow "cannot" in a message.
  public let operation: String
  /// The path, address or name on which the operation was tried; empty if there is none.
  public let subject: String
  /// The `errno` of the failed system call.
  public let code: CInt

  public init(operation: String, subject: String, code: CInt) {
    self.operation = operation
    self.subject = subject
    self.code = code
  }

  /// Whether the kernel refused the call because this user lacks the right.
  public var isAboutRights: Bool { code == EACCES || code == EPERM }

  /// Whether the call failed because the file does not exist.
  public var isAboutAbsence: Bool { code == ENOENT }

  /// Whether the disk is full or the user's quota is exceeded.
  public var isFull: Bool { code == ENOSPC || code == EDQUOT }

  /// Whether the file system is mounted read-only.
  public var isReadOnly: Bool { code == EROFS }

  public var hint: String? {
    switch code {
    case EACCES, EPERM: "check owner and mode with: ls -ld \(shellQuoted(subject))"
    case ENOSPC, EDQUOT: "free some space on that file system"
    case EROFS: "the file system is read-only; choose another place or mount it for writing"
    case EMFILE: "too many open files: raise the limit (ulimit -n, or LimitNOFILE= in the unit)"
    case ENFILE: "the whole machine is out of file handles (sysctl fs.file-max)"
    case EADDRINUSE: "another program listens there; choose another port or stop it"
    case EADDRNOTAVAIL: "this machine does not have that address; see: ip address"
    default: nil
    }
  }
}

extension SystemError: CustomStringConvertible {
  /// The error as one sentence, without secrets.
  public var description: String {
    let what = subject.isEmpty ? operation : "\(operation) \(subject)"
    return "cannot \(what): \(reasonText(of: code))"
  }
}

/// The kernel's message for an error number, for example "No such file or directory".
///
/// Unlike `strerror` it uses no buffer that other threads could overwrite.
public func reasonText(of code: CInt) -> String {
  guard let text = unsafe regent_error_words(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}

/// Quotes a text as one word of a shell command, for commands in hints.
///
/// The text gets single quotes only if a shell would otherwise split or expand it.
public func shellQuoted(_ text: String) -> String {
  let plain = text.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ":"),
      UInt8(ascii: "@"), UInt8(ascii: ","), UInt8(ascii: "="):
      true
    default: false
    }
  }
  if plain && !text.isEmpty { return text }
  var quoted = "'"
  for scalar in text.unicodeScalars {
    if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
  }
  return quoted + "'"
}
