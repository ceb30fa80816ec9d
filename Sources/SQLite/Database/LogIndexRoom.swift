import CSQLite
import Glibc
import RegentPlatform

/// Disk space for the index of the write-ahead log, reserved when the database is opened.
///
/// The index is a file that is mapped into memory (`-shm`). SQLite extends it by writing one byte in each 4 KiB. With
/// smaller file system blocks the bytes between are holes, and touching a hole when the disk is full raises a signal
/// (SIGBUS), which kills the program.
final class LogIndexRoom: Sendable {
  /// The step in which SQLite maps the index of the write-ahead log, in bytes.
  ///
  /// It needs at least one.
  private static let step = 32_768
  /// The sizes to reserve for the index of the write-ahead log, in the order to try.
  ///
  /// The largest is enough for a log of 130,000 pages, eight times the writer's limit.
  ///
  /// Only a reader that never ends lets the log grow so far. With the smallest size, the service can start and answer
  /// reads even when the disk is nearly full.
  private static let sizes = [1 << 20, 2 * step, step]

  /// The file is kept open while this process uses the index: closing it would drop the locks that SQLite holds on the
  /// file.
  private let file: FileDescriptor

  /// Makes SQLite create the index, which empties it, and then reserves its space before any thread touches it.
  init(for connection: borrowing Connection, path: String) throws(SQLiteError) {
    let index = "\(path)-shm"
    do throws(SystemError) {
      try connection.mapLogIndex(bytes: LogIndexRoom.step)
      file = try FileDescriptor.open(index, O_RDWR | O_NOFOLLOW)
      let number = file.number
      for size in LogIndexRoom.sizes {
        // posix_fallocate returns the error code and does not set errno.
        let code = posix_fallocate(number, 0, size)
        if code == 0 { return }
        let error = SystemError(operation: "take room for", subject: index, code: code)
        guard error.isFull, size > LogIndexRoom.step else { throw error }
        // The reservation failed. Release the partly reserved space for the log itself. SQLite has mapped no more than
        // one step so far.
        try systemCall("shorten", on: index) { ftruncate(number, LogIndexRoom.step) }
      }
    } catch {
      throw SQLiteError(code: error.isFull ? .full : .cannotOpen, message: error.description)
    }
  }
}

extension Connection {
  /// Makes SQLite map the index of the write-ahead log and extend it to this size.
  ///
  /// Does not touch the index's content.
  fileprivate borrowing func mapLogIndex(bytes: Int) throws(SystemError) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let asked = unsafe withUnsafeMutablePointer(to: &file) { pointer in
      unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_FILE_POINTER, pointer)
    }
    var index: UnsafeMutableRawPointer?
    guard asked == SQLITE_OK, let file = unsafe file, let methods = unsafe file.pointee.pMethods,
      let code = unsafe methods.pointee.xShmMap?(file, 0, Int32(bytes), 1, &index)
    else { throw SystemError(operation: "map", subject: "the log's index", code: ENOSYS) }
    guard code != SQLITE_OK else { return }
    // SQLITE_IOERR_SHMSIZE: the file could not be extended.
    let isFull = code == SQLITE_IOERR | 19 << 8
    throw SystemError(operation: "make", subject: "the log's index", code: isFull ? ENOSPC : EIO)
  }
}
