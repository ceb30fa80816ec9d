import CSQLite

extension Connection {
  /// Writes the log's bytes over themselves and forces them to disk, before anything is built on them.
  ///
  /// After a failed fsync Linux marks the pages clean although the disk does not have them. The next start would read
  /// them from memory, accept the transactions in them, and append acknowledged ones behind: a power cut then leaves a
  /// hole in the log, and everything behind the hole is lost. Written again, the pages are dirty again, and the fsync
  /// below tells the truth about them.
  ///
  /// Called inside a write transaction, so that the log does not change meanwhile.
  borrowing func forceLogToDisk() throws(SQLiteError) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let asked = unsafe withUnsafeMutablePointer(to: &file) { pointer in
      unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_JOURNAL_POINTER, pointer)
    }
    guard asked == SQLITE_OK, let file = unsafe file, let methods = unsafe file.pointee.pMethods
    else { return }
    var size: sqlite3_int64 = 0
    try log(unsafe methods.pointee.xFileSize?(file, &size))
    guard size > 0 else { return }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var offset: sqlite3_int64 = 0
    while offset < size {
      let count = Int32(min(size - offset, sqlite3_int64(chunk.count)))
      let code = unsafe chunk.withUnsafeMutableBytes { buffer -> Int32? in
        let code = unsafe methods.pointee.xRead?(file, buffer.baseAddress, count, offset)
        guard code == SQLITE_OK else { return code }
        return unsafe methods.pointee.xWrite?(file, buffer.baseAddress, count, offset)
      }
      try log(code)
      offset += sqlite3_int64(count)
    }
    try log(unsafe methods.pointee.xSync?(file, SQLITE_SYNC_NORMAL))
  }

  private borrowing func log(_ code: Int32?) throws(SQLiteError) {
    guard let code else {
      throw SQLiteError(code: .misuse, message: "the file layer is incomplete")
    }
    guard code == SQLITE_OK else {
      throw SQLiteError(
        code: ResultCode(code), message: "the write-ahead log could not be forced to disk")
    }
  }
}
