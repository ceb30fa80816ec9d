import CSQLite
import Glibc
import RegentPlatform

/// Room on the disk for the index of the write-ahead log, taken when the database is opened.
///
/// The index is a file that is mapped into memory (`-shm`). SQLite makes it larger by writing one byte in each 4 KiB of
/// it; with smaller blocks the rest are holes, and touching a hole when the disk is full is no error but a signal
/// (SIGBUS), which ends the program.
final class LogIndexRoom: Sendable {
  /// What is mapped at a time, and the least that is needed.
  private static let step = 32_768
  /// The most is for a log of 130,000 pages, eight times the writer's limit.
  ///
  /// Only a reader that never ends lets it grow so far. A disk with hardly any room left still lets the service start
  /// and answer what only reads.
  private static let sizes = [1 << 20, 2 * step, step]

  /// Open until nobody in this process uses the index any more: closing it drops the locks that SQLite holds on it.
  private let file: FileDescriptor

  /// Has SQLite make the index, which it empties first, and fills its holes before anybody touches one.
  init(for connection: borrowing Connection, path: String) throws(SQLiteError) {
    let index = "\(path)-shm"
    do throws(SystemError) {
      try connection.mapLogIndex(bytes: LogIndexRoom.step)
      file = try FileDescriptor.open(index, O_RDWR | O_NOFOLLOW)
      let number = file.number
      for size in LogIndexRoom.sizes {
        // It gives the error instead of setting errno.
        let code = posix_fallocate(number, 0, size)
        if code == 0 { return }
        let error = SystemError(operation: "take room for", subject: index, code: code)
        guard error.isFull, size > LogIndexRoom.step else { throw error }
        // What it got is kept otherwise, and nothing is left for the log. Mapped is not more than this.
        try systemCall("shorten", on: index) { ftruncate(number, LogIndexRoom.step) }
      }
    } catch {
      throw SQLiteError(code: error.isFull ? .full : .cannotOpen, message: error.description)
    }
  }
}

extension Connection {
  /// Has SQLite attach itself to the log's index and make it so large, without touching what is in it.
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
    // SQLITE_IOERR_SHMSIZE: it could not be made longer.
    let isFull = code == SQLITE_IOERR | 19 << 8
    throw SystemError(operation: "make", subject: "the log's index", code: isFull ? ENOSPC : EIO)
  }
}
