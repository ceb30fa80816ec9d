public import Glibc

/// An open file descriptor with one owner, closed on deinit.
///
/// The value cannot be copied, so the descriptor can neither be closed twice nor be used after another thread got the
/// same number.
public struct FileDescriptor: ~Copyable, Sendable {
  /// The kernel's number of the descriptor, for calls that this type does not offer.
  ///
  /// The caller must not close it.
  public let number: CInt

  /// Takes ownership of a number that the kernel has just returned.
  ///
  /// - Parameter number: an open descriptor that no other code closes.
  public init(owning number: CInt) {
    self.number = number
  }

  deinit {
    // The call is not repeated after EINTR: Linux has freed the number, and another thread may have got it by now.
    _ = Glibc.close(number)
  }

  /// Closes the descriptor now and reports errors.
  ///
  /// On some file systems only `close` reports a failed write.
  public consuming func close() throws(SystemError) {
    let number = number
    discard self
    let code = attempt { Glibc.close(number) }.code
    guard code == 0 || code == EINTR else {
      throw SystemError(operation: "close descriptor", subject: String(number), code: code)
    }
  }

  /// Gives up ownership of the descriptor and returns its number, which the caller must close.
  public consuming func release() -> CInt {
    let number = number
    discard self
    return number
  }
}

extension FileDescriptor {
  /// Opens a path.
  ///
  /// Refuses a path with a NUL byte.
  ///
  /// `O_CLOEXEC` is always added, so that no child process inherits the descriptor by accident. `mode` is the mode of a
  /// file that is created.
  public static func open(
    _ path: String, _ flags: CInt, mode: mode_t = 0o600
  ) throws(SystemError) -> FileDescriptor {
    try refuseNUL(in: path, operation: "open")
    let number = try systemCall("open", on: path) {
      unsafe Glibc.open(path, flags | O_CLOEXEC, mode)
    }
    return FileDescriptor(owning: number)
  }

  /// Opens the file with this name inside this directory.
  ///
  /// `path` is the whole path, for the error.
  ///
  /// `O_CLOEXEC` is always added. `mode` is the mode of a file that is created.
  func openInside(
    _ name: String, _ flags: CInt, mode: mode_t = 0o600, path: String
  ) throws(SystemError) -> FileDescriptor {
    let directory = number
    let number = try systemCall("open", on: path) {
      unsafe openat(directory, name, flags | O_CLOEXEC, mode)
    }
    return FileDescriptor(owning: number)
  }

  /// Writes all bytes, with as many calls as that takes.
  ///
  /// If this throws, a part of the bytes may have been written.
  ///
  /// `subject` is the path or name, for the error.
  public func writeAll(_ bytes: [UInt8], to subject: String = "") throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let start = done
      done += try systemCall("write", on: subject) {
        unsafe bytes.withUnsafeBytes { buffer in
          unsafe Glibc.write(
            number, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start)
        }
      }
    }
  }

  /// Reads up to `limit` bytes with one call.
  ///
  /// An empty result means the end of the file.
  ///
  /// `subject` is the path or name, for the error. On a non-blocking descriptor without data it throws `EAGAIN`.
  public func read(atMost limit: Int, from subject: String = "") throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      do throws(SystemError) {
        count = try systemCall("read", on: subject) {
          unsafe Glibc.read(number, buffer.baseAddress, limit)
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads at most `limit` bytes at an offset of a file.
  ///
  /// The result is empty at or after the end of the file.
  public func read(
    atMost limit: Int, at offset: Int64, from subject: String = ""
  ) throws(SystemError) -> [UInt8] {
    let number = number
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = try systemCall("read", on: subject) {
      unsafe pread(number, &bytes, limit, off_t(offset))
    }
    return Array(bytes.prefix(count))
  }
}

/// Reads a kernel file such as `/proc/net/route`; the content after about `limit` bytes is left out.
///
/// The size of such a file is not known before it is read.
func kernelTable(_ path: String, atMost limit: Int) -> String? {
  guard let file = try? FileDescriptor.open(path, O_RDONLY) else { return nil }
  var bytes: [UInt8] = []
  while bytes.count < limit, let more = try? file.read(atMost: 8_192), !more.isEmpty { bytes += more }
  return String(decoding: bytes, as: UTF8.self)
}

/// Refuses a path that contains a NUL byte.
///
/// The kernel would cut the path there, and so use another file than the checked one.
func refuseNUL(in path: String, operation: String) throws(SystemError) {
  guard !path.utf8.contains(0) else {
    throw SystemError(operation: operation, subject: "a path with a NUL byte", code: EINVAL)
  }
}
