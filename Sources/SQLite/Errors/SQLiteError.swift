import CSQLite
import Glibc

/// The failure of a call to SQLite.
///
/// It never contains parameter values.
public struct SQLiteError: Error, Hashable, Sendable {
  public let code: ResultCode
  /// The message of SQLite, or a message of this target.
  public let message: String
  /// The statement, with `?` in place of its values; nil when the call had none.
  public let sql: String?

  public init(code: ResultCode, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// The error when the database file was removed, renamed or replaced while it was open.
  static let moved = SQLiteError(
    code: .moved, message: "the database was removed or replaced while it was open")

  public var hint: String? {
    switch code {
    case .moved:
      "put the file back before the service starts again, or restore the last backup; otherwise it begins with an empty one"
    case .full: "free some space on the file system of the database; nothing was lost"
    case .inputOutput:
      "look for disk errors in the kernel's log (journalctl -k), then start the service again"
    case .corrupt, .notADatabase: "stop the service and restore the last backup"
    case .busy: "another program has the database open; find it with: fuser -v DATABASE*"
    case .readOnly, .cannotOpen:
      "check owner and mode of the database and its directory with: ls -la"
    default: nil
    }
  }
}

extension SQLiteError: CustomStringConvertible {
  /// The error as one sentence, without secrets.
  public var description: String {
    let place = sql.map { " in “\($0)”" } ?? ""
    return "SQLite says “\(message)” (code \(code.number))\(place)"
  }
}

extension SQLiteError {
  /// The error of a call that failed on this connection, with SQLite's message.
  init(of database: OpaquePointer?, code: Int32, sql: String? = nil) {
    // errmsg describes the last call on the connection. That is the failed call, because one thread uses a connection
    // at a time.
    let words = unsafe database.flatMap { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    let message = unsafe words.map { unsafe String(cString: $0) } ?? "unknown error"
    let result = ResultCode(code)
    // SQLite treats only ENOSPC as a full disk. An exceeded quota means the same for the caller: nothing was written,
    // and later writes succeed once there is space. An fsync that fails because of a quota stays an I/O error, because
    // its outcome is unknown.
    let isOverQuota = unsafe result == .write && lastWriteWasOverQuota(database)
    self.init(code: isOverQuota ? .full : result, message: isOverQuota ? "over quota" : message, sql: sql)
  }
}

/// Whether the last failed write to the write-ahead log or to the database exceeded the user's quota (EDQUOT).
private func lastWriteWasOverQuota(_ database: OpaquePointer?) -> Bool {
  [SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER].contains { which in
    var file: UnsafeMutablePointer<sqlite3_file>?
    let asked = unsafe withUnsafeMutablePointer(to: &file) { pointer in
      unsafe sqlite3_file_control(database, nil, which, pointer)
    }
    guard asked == SQLITE_OK, let file = unsafe file, let methods = unsafe file.pointee.pMethods else { return false }
    var code: Int32 = 0
    _ = unsafe methods.pointee.xFileControl?(file, SQLITE_FCNTL_LAST_ERRNO, &code)
    return code == EDQUOT
  }
}
