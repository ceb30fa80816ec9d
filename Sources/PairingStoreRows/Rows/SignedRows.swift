import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL

/// The table and key of a row that failed verification.
struct TamperedRow: Hashable, Sendable {
  let table: String
  let key: String
}

/// Reads and writes signed rows for one store operation inside its transaction, and collects the rows that failed
/// verification.
///
/// Only the thread that runs the operation uses it, until the operation ends.
package final class SignedRows {
  let vault: Vault
  private let known: VerifiedRowCache
  private let keyPairs: Table<KeyPair>
  private(set) var tampered: [TamperedRow] = []
  private var rowKeys: [PublicKey: HMACKey] = [:]
  /// The value of the store's change counter (``GrantStore/standingMark``) before a reading operation began.
  ///
  /// If a row that many records depend on was verified at the same counter value, it is not read again.
  var mark: UInt64?

  /// Takes the encoding of key-pair rows as an argument, because a migration reads rows in an earlier encoding.
  init(_ vault: Vault, _ known: VerifiedRowCache, keyPairs: Table<KeyPair> = Tables.keyPairs) {
    self.vault = vault
    self.known = known
    self.keyPairs = keyPairs
  }
}

// MARK: - Reading rows

extension SignedRows {
  /// Reads one row; nil when it does not exist or its signature does not verify.
  func one<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ question: Question
  ) throws -> Stored<Record>? {
    try place(context, table, question).stored
  }

  /// Reads one row if its signature verifies, and tells whether any row is stored there.
  func place<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ question: Question
  ) throws -> (stored: Stored<Record>?, isTaken: Bool) {
    var found: Stored<Record>?
    var isTaken = false
    try context.each(question) { row in
      isTaken = true
      if found == nil { found = try self.stored(context, table, row) }
    }
    return (found, isTaken)
  }

  /// Passes the rows whose signatures verify to `body`, until `body` returns false.
  ///
  /// Rows that fail verification are skipped.
  func each<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ sql: SQL,
    _ body: (Stored<Record>) throws -> Bool
  ) throws {
    do {
      try context.each(sql) { row in
        guard let stored = try self.stored(context, table, row) else { return }
        guard try body(stored) else { throw Enough() }
      }
    } catch is Enough {}
  }

  /// Reads all rows of the query whose signatures verify.
  func all<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ sql: SQL
  ) throws -> [Stored<Record>] {
    var found: [Stored<Record>] = []
    try each(context, table, sql) {
      found.append($0)
      return true
    }
    return found
  }

  /// Passes verified rows to `body` like `each`, but fetches them in portions, for results that are too large for
  /// memory.
  func walk<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ sql: SQL, expecting count: Int,
    _ body: (Stored<Record>) throws -> Bool
  ) throws {
    do {
      try context.walk(sql, expecting: count) { row in
        guard let stored = try self.stored(context, table, row) else { return }
        guard try body(stored) else { throw Enough() }
      }
    } catch is Enough {}
  }

  /// The first rows that verify and satisfy `isMeant`.
  ///
  /// Rows that fail verification do not count towards `limit`.
  func first<Context: Querying & ~Copyable, Record>(
    _ limit: Int, _ context: borrowing Context, _ table: Table<Record>, _ sql: SQL,
    where isMeant: (Record) throws -> Bool = { _ in true }
  ) throws -> [Record] {
    var found: [Record] = []
    guard limit > 0 else { return found }
    try walk(context, table, sql, expecting: limit) { stored in
      if try isMeant(stored.record) { found.append(stored.record) }
      return found.count < limit
    }
    return found
  }

  /// Reads one row by a declared query; nil when it does not exist or its signature does not verify.
  func one<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ sql: SQL
  ) throws -> Stored<Record>? {
    var found: Stored<Record>?
    try each(context, table, sql) {
      found = $0
      return false
    }
    return found
  }

  /// Reads by its key a row that many other rows depend on.
  ///
  /// It may come from the cache.
  func shared<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ first: String, _ second: String? = nil
  ) throws -> Stored<Record>? {
    let known = mark == nil ? nil : table.known.map { $0(self.known) }
    let key = second.map { "\(first)\n\($0)" } ?? first
    if let mark, let row = known?.find(key, asOf: mark) { return row }
    let row = try one(context, table, second.map { table.row(first, $0) } ?? table.row(first))
    if let mark, let row { known?.note(row, for: key, asOf: mark) }
    return row
  }

  private func stored<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ row: borrowing Row
  ) throws -> Stored<Record>? {
    let known = table.known.map { $0(self.known) }
    if let known, let row = try? known.find(row) { return row }
    var values: [SQLValue] = []
    values.reserveCapacity(table.columns.count)
    let signature: [UInt8]
    do throws(DatabaseError) {
      for (place, column) in table.columns.enumerated() {
        values.append(try column.value(of: row, at: place))
      }
      signature = try row.blob(table.columns.count)
    } catch {
      // The row contains invalid UTF-8, or a type that the schema forbids, so this program did not write it.
      noteTampered(table, values)
      return nil
    }
    let row = try verified(context, table, values, signature)
    if let row { known?.keep(row) }
    return row
  }

  /// Decodes a row into its record; nil unless the signature is valid and the encrypted values can be decrypted.
  func verified<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ values: [SQLValue], _ signature: [UInt8]
  ) throws -> Stored<Record>? {
    let message = Vault.message(table.name, table.form, values)
    guard let key = try signingKey(context, table, values), key.isValid(signature, for: message)
    else {
      noteTampered(table, values)
      return nil
    }
    do throws(UnreadableRow) {
      return Stored(record: try table.decode(values, vault), values: values, signature: signature)
    } catch {
      noteTampered(table, values)
      return nil
    }
  }

  private func noteTampered<Record>(_ table: Table<Record>, _ values: [SQLValue]) {
    let key = values.prefix(table.keyCount).map(\.shown).joined(separator: "/")
    tampered.append(TamperedRow(table: table.name, key: key))
  }

  /// The key that signs this row; nil when its key pair is missing or revoked.
  private func signingKey<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ values: [SQLValue]
  ) throws -> HMACKey? {
    guard table.signer == .rowPair else { return vault.records }
    guard let place = table.publicKey, case .text(let text) = values[place],
      let publicKey = PublicKey(text)
    else { return nil }
    if let key = rowKeys[publicKey] { return key }
    guard let pair = try pair(context, publicKey) else { return nil }
    return use(pair)
  }
}

extension SignedRows {
  func pair<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: PublicKey
  ) throws -> Stored<KeyPair>? {
    try shared(context, keyPairs, id.text)
  }

  /// Makes this key pair the one that signs and verifies rows from now on.
  ///
  /// Returns nil when it is revoked, or is not a pair for signing rows.
  @discardableResult
  func use(_ pair: Stored<KeyPair>) -> HMACKey? {
    guard pair.record.purpose == .rows, pair.record.state != .revoked else { return nil }
    let key = known.rowKey(of: pair, vault)
    rowKeys[pair.record.publicKey] = key
    return key
  }
}

// MARK: - Writing rows

extension SignedRows {
  /// Writes a new row.
  ///
  /// It replaces an existing row with the same key if that row fails verification.
  ///
  /// - Returns: the signature of the new row.
  @discardableResult
  package func insert<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ record: Record
  ) throws -> [UInt8] {
    try insert(context, table, table.encode(record, vault))
  }

  private func insert<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ values: [SQLValue]
  ) throws -> [UInt8] {
    let signature = try signature(context, table, values)
    try context.insert(
      SQL(unsafeRawSQL: table.insert, values + [.blob(signature)]),
      inPlaceOf: "DELETE FROM \(unsafeRawSQL: table.name) WHERE \(keyOf: values, in: table)",
      touching: TouchedRow(table, values))
    return signature
  }

  /// Writes a new row, unless a row with the same primary key or another unique value exists.
  ///
  /// - Returns: whether the row was written.
  func insertNew<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ record: Record
  ) throws -> Bool {
    let values = table.encode(record, vault)
    let signature = try signature(context, table, values)
    return try context.insertNew(
      table.insert, table.insertNew, values + [.blob(signature)], touching: TouchedRow(table, values))
  }

  /// Changes some columns of a row that was read in this transaction, and renews its signature.
  ///
  /// - Returns: the new values and the new signature.
  @discardableResult
  func update<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ stored: Stored<Record>,
    _ change: RowChange, _ news: [SQLValue]
  ) throws -> (values: [SQLValue], signature: [UInt8]) {
    var values = stored.values
    for (place, value) in zip(change.places, news) { values[place] = value }
    let signature = try signature(context, table, values)
    var bound = news
    bound.append(.blob(signature))
    bound += table.key(of: stored.values)
    // The old signature is the row's version: the UPDATE changes nothing if the row has changed since it was read.
    bound.append(.blob(stored.signature))
    try context.changeOne(
      SQL(unsafeRawSQL: change.text, bound), of: table.name,
      touching: [TouchedRow(table, stored.values), TouchedRow(table, values)])
    return (values, signature)
  }

  /// Changes some columns of a row that was read in this transaction, for columns that are not known at compile time.
  @discardableResult
  func update<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ stored: Stored<Record>,
    _ changes: [(name: String, value: SQLValue)]
  ) throws -> (values: [SQLValue], signature: [UInt8]) {
    try update(context, table, stored, table.change(of: changes.map(\.name)), changes.map(\.value))
  }

  /// Changes some columns of a row that an earlier transaction read.
  ///
  /// The caller guarantees that no record which the row depends on can have changed since. Nothing is therefore read
  /// again, and the remembered key for signing rows is used.
  ///
  /// - Returns: false when the row has changed or its key is not remembered; then nothing was written.
  func updateUnread<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ values: [SQLValue], _ change: RowChange,
    version: [UInt8]
  ) throws -> Bool {
    guard let place = table.publicKey, case .text(let text) = values[place], let publicKey = PublicKey(text),
      let key = known.lastRowKey(of: publicKey)
    else { return false }
    var bound = change.places.map { values[$0] }
    bound.append(.blob(key.code(Vault.message(table.name, table.form, values))))
    bound += table.key(of: values)
    bound.append(.blob(version))
    return try context.runCounting(SQL(unsafeRawSQL: change.text, bound)) == 1
  }

  /// Writes a record over the row from which it was read, or as a new row.
  ///
  /// - Returns: the row as it is stored now.
  @discardableResult
  func put<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ record: Record,
    over stored: Stored<Record>?
  ) throws -> Stored<Record> {
    let values = table.encode(record, vault)
    guard let stored else {
      return Stored(record: record, values: values, signature: try insert(context, table, values))
    }
    let changed = values.indices.dropFirst(table.keyCount).filter { values[$0] != stored.values[$0] }
    guard !changed.isEmpty else { return stored }
    let row = try update(context, table, stored, changed.map { (table.columns[$0].name, values[$0]) })
    return Stored(record: record, values: row.values, signature: row.signature)
  }

  private func signature<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ values: [SQLValue]
  ) throws -> [UInt8] {
    guard let key = try signingKey(context, table, values) else {
      throw StoreError.notFound(what: "row key")
    }
    return key.code(Vault.message(table.name, table.form, values))
  }
}

/// Thrown to leave a loop over rows; it never leaves this file.
private struct Enough: Error {}
