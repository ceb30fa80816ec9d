import CRegentLinux
public import Glibc

// No other file names `errno` (Tests/ArchitectureTests): it belongs to the thread, and any call in between, also one
// that Swift makes to free memory, may change it. Whoever needs it makes the call through one of these functions.

/// Runs one system call and repeats it while a signal interrupts it.
///
/// Two calls must go through ``attempt(_:)`` instead, because repeating them is wrong: `close` (the descriptor is gone
/// even after `EINTR`) and `connect` (the attempt goes on in the background).
///
/// - Parameters:
///   - operation: what is being done, as the error will say it: "cannot OPERATION SUBJECT".
///   - subject: on what; only computed when the call fails.
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

/// Runs one system call once.
///
/// - Parameter body: the call and nothing else; a result of -1 means failure.
/// - Returns: what it returned, and its `errno`: 0 when it did not fail.
@inlinable @inline(__always)
public func attempt<Result: SignedInteger>(_ body: () -> Result) -> (result: Result, code: CInt) {
  let result = body()
  return (result, result == -1 ? errno : 0)
}

/// Runs one call of the C library that gives nothing when it fails.
///
/// - Parameter body: the call and nothing else.
/// - Returns: what it returned, and why it gave nothing: 0 when it did not say, as at the end of a folder.
public func attemptToGet<Value>(_ body: () -> Value?) -> (value: Value?, code: CInt) {
  errno = 0
  guard let value = body() else { return (nil, errno) }
  return (value, 0)
}

/// Runs a signal handler's work and leaves the interrupted thread's `errno` as it was.
func keepingErrno(_ body: () -> Void) {
  let code = errno
  body()
  errno = code
}

/// A system call that failed: what was tried, on what, and the kernel's reason.
public struct SystemError: Error, Equatable, Sendable {
  /// What was tried, as words that follow "cannot".
  public let operation: String
  /// What it was tried on: a path, an address, a name; empty when there is nothing to name.
  public let subject: String
  /// The `errno` of the call.
  public let code: CInt

  /// An error of the given call.
  public init(operation: String, subject: String, code: CInt) {
    self.operation = operation
    self.subject = subject
    self.code = code
  }

  /// Whether the kernel refused it to this user, and would not to another.
  public var isAboutRights: Bool { code == EACCES || code == EPERM }

  /// Whether there is nothing of that name.
  public var isAboutAbsence: Bool { code == ENOENT }

  /// Whether there was no room: the disk is full, or the user's quota used up.
  public var isFull: Bool { code == ENOSPC || code == EDQUOT }

  /// Whether the file system is mounted for reading alone.
  public var isReadOnly: Bool { code == EROFS }

  /// What to do about it, when there is something to do.
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
  /// One sentence that is safe to show.
  public var description: String {
    let what = subject.isEmpty ? operation : "\(operation) \(subject)"
    return "cannot \(what): \(reasonText(of: code))"
  }
}

/// The kernel's words for an error number, without the shared buffer of `strerror`.
///
/// - Parameter code: an `errno` value.
/// - Returns: for example "No such file or directory".
public func reasonText(of code: CInt) -> String {
  guard let text = unsafe regent_error_words(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}

/// The text as one word of a shell command, for hints that can be pasted.
///
/// - Parameter text: a path or name.
/// - Returns: the same, in single quotes when a shell would otherwise split or expand it.
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
