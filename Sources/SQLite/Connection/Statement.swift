import CSQLite

/// A prepared statement, finalised on deinit.
@safe struct Statement: ~Copyable {
  private let handle: OpaquePointer
  let sql: String
  /// Whether the statement cannot change the database.
  let isReadOnly: Bool

  /// Prepares exactly one statement.
  ///
  /// Text after it is refused, because SQLite would silently ignore it.
  init(_ sql: String, on database: OpaquePointer, kept: Bool) throws(SQLiteError) {
    var text = sql
    var made: OpaquePointer?
    var rest = 0
    let flags = kept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = text.withUTF8 { bytes -> Int32 in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        var tail: UnsafePointer<CChar>?
        let code = unsafe sqlite3_prepare_v3(
          database, characters.baseAddress, Int32(clamping: characters.count), flags, &made, &tail)
        if let tail = unsafe tail, let start = characters.baseAddress {
          rest = unsafe characters.count - (tail - start)
        }
        return code
      }
    }
    guard code == SQLITE_OK else {
      throw unsafe SQLiteError(of: database, code: code, sql: sql)
    }
    guard let made = unsafe made else {
      throw SQLiteError(code: .misuse, message: "there is no statement in the text", sql: sql)
    }
    guard sql.utf8.suffix(rest).allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x3B }) else {
      unsafe sqlite3_finalize(made)
      throw SQLiteError(code: .misuse, message: "there is more than one statement", sql: sql)
    }
    unsafe handle = unsafe made
    isReadOnly = unsafe sqlite3_stmt_readonly(made) != 0
    self.sql = sql
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Binds the values to the parameters, in order.
  borrowing func bind(_ values: [SQLValue]) throws(SQLiteError) {
    let wanted = Int(unsafe sqlite3_bind_parameter_count(handle))
    guard wanted == values.count else {
      throw SQLiteError(
        code: .range, message: "\(wanted) values are needed, \(values.count) were given", sql: sql)
    }
    for (index, value) in values.enumerated() {
      let code = bind(value, Int32(index + 1))
      guard code == SQLITE_OK else { throw failure(code) }
    }
  }

  /// Steps to the next row of the statement's result.
  ///
  /// - Returns: whether there is a row.
  borrowing func step() throws(SQLiteError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    case let code: throw failure(code)
    }
  }

  /// Runs the statement to its end and resets it for the next use.
  borrowing func runToEnd() throws(SQLiteError) {
    defer { reset() }
    while try step() {}
  }

  /// Resets the statement for its next use and clears its bound values.
  borrowing func reset() {
    // sqlite3_reset returns the error of the last step again, which was reported already.
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  /// The row that the last step of the statement reached.
  var row: Row { unsafe Row(of: handle, sql: sql) }

  private borrowing func bind(_ value: SQLValue, _ index: Int32) -> Int32 {
    switch value {
    case .null: unsafe sqlite3_bind_null(handle, index)
    case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
    case .real(let number): unsafe sqlite3_bind_double(handle, index, number)
    case .text(var text): text.withUTF8 { unsafe bindText($0, index) }
    case .blob(let bytes): unsafe bytes.withUnsafeBytes { unsafe bindBlob($0, index) }
    }
  }

  private borrowing func bindText(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int32) -> Int32 {
    unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
      // A null pointer would bind NULL; an empty text is not NULL.
      guard let start = characters.baseAddress else {
        return unsafe csqlite_bind_text(handle, index, "", 0)
      }
      return unsafe csqlite_bind_text(handle, index, start, UInt64(characters.count))
    }
  }

  private borrowing func bindBlob(_ bytes: UnsafeRawBufferPointer, _ index: Int32) -> Int32 {
    guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else {
      return unsafe sqlite3_bind_zeroblob(handle, index, 0)
    }
    return unsafe csqlite_bind_blob(handle, index, start, UInt64(bytes.count))
  }

  private borrowing func failure(_ code: Int32) -> SQLiteError {
    unsafe SQLiteError(of: sqlite3_db_handle(handle), code: code, sql: sql)
  }
}
