public import Glibc

/// Why a file, lock file or directory was refused or could not be used.
public struct FileError: Error, Equatable, Sendable {
  public enum Kind: Equatable, Sendable {
    case missing
    /// The path ends in a symbolic link, through which an attacker could make the program write elsewhere.
    case symbolicLink
    /// The path leads to a directory, device, pipe or socket, where a regular file was expected.
    case notAFile
    /// The path leads to a file that is no directory, where a directory was expected.
    case notADirectory
    /// Other users may read or write a file that must be private.
    case modeTooWide(found: mode_t, allowed: mode_t)
    /// The owner is neither this process's user nor root.
    case foreignOwner(uid_t)
    /// The file is larger than the limit.
    case tooLarge(limit: Int)
    /// Another process holds the lock. The value is its process id, if it is known.
    case held(by: pid_t?)
    /// Another program has written to the file since it was read.
    case changed
    /// A system call on the file failed.
    case system(SystemError)
  }

  public let kind: Kind
  public let path: String

  public init(_ kind: Kind, path: String) {
    self.kind = kind
    self.path = path
  }

  /// What the user can type or do about the error.
  public var hint: String? {
    switch kind {
    case .missing: "check the path: \(shellQuoted(path))"
    case .symbolicLink: "name the real file instead: readlink -f \(shellQuoted(path))"
    case .notAFile, .notADirectory: "check it: ls -ld \(shellQuoted(path))"
    case .modeTooWide(_, let allowed): "run chmod \(octal(allowed)) \(shellQuoted(path))"
    // Root can open the file after a change of its owner, and should not run this program.
    case .foreignOwner(0) where Accounts.effectiveUser != 0:
      "run chown \(shellQuoted(Accounts.title(of: Accounts.effectiveUser))) \(shellQuoted(path)) as root"
    // The hint suggests no chown to this user: the other user's program could not open the file any more.
    case .foreignOwner(let owner):
      "run the same command as that user: put sudo -u \(shellQuoted(Accounts.title(of: owner, numberedBy: "#"))) before it"
    case .tooLarge: "check that this is the file you meant"
    case .held(let pid?): "stop process \(pid) first, or use another place (see: ps -p \(pid))"
    case .held(nil): "stop the other process first, or use another place"
    case .changed: "run the command again: it then uses the new content"
    case .system(let error): error.hint
    }
  }
}

extension FileError: CustomStringConvertible {
  /// The error as one sentence, without secrets.
  public var description: String {
    switch kind {
    case .missing: "\(path) does not exist"
    case .symbolicLink: "\(path) is a symbolic link, which is refused here"
    case .notAFile: "\(path) is not a regular file"
    case .notADirectory: "\(path) is not a directory"
    case .modeTooWide(let found, let allowed):
      "\(path) has mode \(octal(found)), wider than \(octal(allowed)): other users could read or change private data"
    case .foreignOwner(let owner):
      "\(path) belongs to user \(Accounts.title(of: owner)), not to this program's user"
    case .tooLarge(let limit): "\(path) is larger than the \(limit) bytes it may have"
    case .held(let pid?): "\(path) is held by process \(pid)"
    case .held(nil): "\(path) is held by another process"
    case .changed: "\(path) was changed by another program meanwhile"
    case .system(let error): error.description
    }
  }
}

extension FileError {
  /// Converts the error of a failed system call.
  ///
  /// A missing file and a symbolic link get kinds of their own.
  init(_ error: SystemError, path: String) {
    switch error.code {
    case ENOENT: self.init(.missing, path: path)
    case ELOOP: self.init(.symbolicLink, path: path)
    case ENOTDIR: self.init(.notADirectory, path: path)
    default: self.init(.system(error), path: path)
    }
  }
}

/// Runs `body` and converts a `SystemError` into a `FileError` with the path.
func onFile<Result: ~Copyable>(
  _ path: String, _ body: () throws(SystemError) -> Result
) throws(FileError) -> Result {
  do throws(SystemError) {
    return try body()
  } catch {
    throw FileError(error, path: path)
  }
}

private func octal(_ mode: mode_t) -> String {
  String(mode & 0o7777, radix: 8)
}
