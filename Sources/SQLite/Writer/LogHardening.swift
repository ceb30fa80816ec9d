import CSQLite

extension Connection {
  /// Writes the bytes of the write-ahead log over themselves and forces them to disk, before further transactions are
  /// appended.
  ///
  /// After a failed fsync Linux marks the pages as clean although they are not on the disk. The next start would read
  /// them from memory, accept the transactions in them, and append acknowledged transactions after them. A power cut
  /// would then leave a hole in the log, and everything after the hole would be lost. Writing the pages again makes
  /// them dirty, so that the fsync below really stores them or fails.
  ///
  /// Must be called in a write transaction, so that the log does not change meanwhile.
  borrowing func forceLogToDisk() throws(SQLiteError) {
    guard let file = unsafe file(SQLITE_FCNTL_JOURNAL_POINTER),
      let methods = unsafe file.pointee.pMethods
    else { return }
    var size: sqlite3_int64 = 0
    try requireOK(unsafe methods.pointee.xFileSize?(file, &size))
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
      try requireOK(code)
      offset += sqlite3_int64(count)
    }
    try requireOK(unsafe methods.pointee.xSync?(file, SQLITE_SYNC_NORMAL))
  }

  /// Cuts off the bytes that a transaction has written to the write-ahead log after the last commit, when it met a full
  /// disk.
  ///
  /// A full disk may cut a write short. The bytes after the cut, from an earlier use of the log, may equal those that
  /// were to be written (for example the zeros at the end of a page). The commit record is then complete, checksum
  /// included, although SQLite reported a failure, and the next start would accept it. Cutting it off makes the answer
  /// `.diskFull` true.
  ///
  /// Readers are not affected: they never read past the last commit.
  borrowing func cutLogAfterLastCommit() throws(SQLiteError) {
    guard let file = unsafe file(SQLITE_FCNTL_JOURNAL_POINTER),
      let methods = unsafe file.pointee.pMethods
    else { return }
    let pageSize = try value("PRAGMA page_size", as: Int64.self) ?? 0
    let pages = Int64(try committedPages())
    // The format of the write-ahead log is a header of 32 bytes, then each page with a header of 24 bytes.
    let end = pages == 0 ? 0 : 32 + pages * (pageSize + 24)
    var size: sqlite3_int64 = 0
    try requireOK(unsafe methods.pointee.xFileSize?(file, &size))
    guard size > end else { return }
    try requireOK(unsafe methods.pointee.xTruncate?(file, end))
    try requireOK(unsafe methods.pointee.xSync?(file, SQLITE_SYNC_NORMAL))
  }

  /// How many pages of the write-ahead log are committed, read from the header of the log's index (SQLite documents it
  /// in "walformat").
  ///
  /// A count remembered from the last commit could be wrong, because the failed transaction may have restarted the log.
  private borrowing func committedPages() throws(SQLiteError) -> UInt32 {
    guard let file = unsafe file(SQLITE_FCNTL_FILE_POINTER),
      let methods = unsafe file.pointee.pMethods
    else { throw SQLiteError(code: .misuse, message: "the file layer is incomplete") }
    var index: UnsafeMutableRawPointer?
    try requireOK(unsafe methods.pointee.xShmMap?(file, 0, 32_768, 0, &index))
    guard let index = unsafe index else {
      throw SQLiteError(code: .misuse, message: "the log has no index")
    }
    return unsafe index.load(fromByteOffset: 16, as: UInt32.self)
  }

  private borrowing func file(_ which: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let asked = unsafe withUnsafeMutablePointer(to: &file) { pointer in
      unsafe sqlite3_file_control(handle, nil, which, pointer)
    }
    return asked == SQLITE_OK ? unsafe file : nil
  }

  private borrowing func requireOK(_ code: Int32?) throws(SQLiteError) {
    guard let code else {
      throw SQLiteError(code: .misuse, message: "the file layer is incomplete")
    }
    guard code == SQLITE_OK else {
      throw SQLiteError(
        code: ResultCode(code), message: "the write-ahead log could not be made safe")
    }
  }
}
