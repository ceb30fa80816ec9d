public import Glibc

/// Why a file, a lock file or a directory was refused or could not be used.
public struct FileError: Error, Equatable, Sendable {
  /// The kinds of refusal.
  public enum Kind: Equatable, Sendable {
    /// There is nothing at that path.
    case missing
    /// The path ends in a symbolic link: somebody could make us write elsewhere.
    case symbolicLink
    /// A directory, device, pipe or socket where a regular file was expected.
    case notAFile
    /// Something else where a directory was expected.
    case notADirectory
    /// Others may read or write what must be private.
    case modeTooWide(found: mode_t, allowed: mode_t)
    /// It belongs to somebody who is neither this process's user nor root.
    case foreignOwner(uid_t)
    /// It holds more than the cap.
    case tooLarge(limit: Int)
    /// The lock is held, by this process when the number is known.
    case held(by: pid_t?)
    /// Another program wrote to it meanwhile.
    case changed
    /// The kernel refused.
    case system(SystemError)
  }

  /// What is wrong.
  public let kind: Kind
  public let path: String

  /// An error about one path.
  public init(_ kind: Kind, path: String) {
    self.kind = kind
    self.path = path
  }

  /// The exact thing to type or do.
  public var hint: String? {
    switch kind {
    case .missing: "check the path: \(shellQuoted(path))"
    case .symbolicLink: "name the real file instead: readlink -f \(shellQuoted(path))"
    case .notAFile, .notADirectory: "check it: ls -ld \(shellQuoted(path))"
    case .modeTooWide(_, let allowed): "run chmod \(octal(allowed)) \(shellQuoted(path))"
    // Never to give it to this user: its own program could not open it any more.
    case .foreignOwner(let owner):
      "run the command as that user: sudo -u \(shellQuoted(Accounts.title(of: owner, numberedBy: "#"))) …"
    case .tooLarge: "check that this is the file you meant"
    case .held(let pid?): "stop process \(pid) first, or use another place (see: ps -p \(pid))"
    case .held(nil): "stop the other process first, or use another place"
    case .changed: "run the command again: it then uses the new content"
    case .system(let error): error.hint
    }
  }
}

extension FileError: CustomStringConvertible {
  /// One sentence that is safe to show.
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
  /// The refusal that a failed call amounts to: absence and symbolic links are told apart from the rest.
  init(_ error: SystemError, path: String) {
    switch error.code {
    case ENOENT: self.init(.missing, path: path)
    case ELOOP: self.init(.symbolicLink, path: path)
    case ENOTDIR: self.init(.notADirectory, path: path)
    default: self.init(.system(error), path: path)
    }
  }
}

/// Runs calls that fail with `SystemError` and turns the failure into one about the path.
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
