import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL

/// A row that does not verify: which one.
struct TamperedRow: Hashable, Sendable {
  let table: String
  let key: String
}

/// What one verb does with signed rows inside its transaction, and which rows it found changed.
///
/// Used by the thread that runs the verb, for as long as the verb runs.
package final class SignedRows {
  let vault: Vault
  private let known: VerifiedRowCache
  private let keyPairs: Table<KeyPair>
  private(set) var tampered: [TamperedRow] = []
  private var rowKeys: [PublicKey: HMACKey] = [:]
  /// The store's mark (``GrantStore/standingMark``) as it was before a verb that reads began to look: rows that many
  /// stand on and that were found there at the same mark are not looked up again.
  var mark: UInt64?

  /// - Parameters:
  ///   - vault: the data keys.
  ///   - known: rows that verified before.
  ///   - keyPairs: the form that rows of key pairs have in the file, which is an earlier one in a migration.
  init(_ vault: Vault, _ known: VerifiedRowCache, keyPairs: Table<KeyPair> = Tables.keyPairs) {
    self.vault = vault
    self.known = known
    self.keyPairs = keyPairs
  }
}

// MARK: - Reading

extension SignedRows {
  /// The one row, if it verifies.
  func one<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ question: Question
  ) throws -> Stored<Record>? {
    try place(context, table, question).stored
  }

  /// The one row, if it verifies, and whether any lies in its place.
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

  /// Hands out the rows that verify until `body` says that it has enough; the others do not exist.
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

  /// All rows that verify.
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

  /// The same for a query whose rows are too many to be had at once: they are fetched as they are wanted.
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

  /// The first rows that verify and that `isMeant`: one bad row never makes a page shorter.
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

  /// The one row, if it verifies.
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

  /// The one row of a table whose rows many others stand on, by its key.
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
      // Text that is no UTF-8, or a type that the schema forbids: this program did not write that.
      noteTampered(table, values)
      return nil
    }
    let row = try verified(context, table, values, signature)
    if let row { known?.keep(row) }
    return row
  }

  /// The record that these values are, if they carry its signature and what is sealed in them opens.
  func verified<Context: Querying & ~Copyable, Record>(
    _ context: borrowing Context, _ table: Table<Record>, _ values: [SQLValue], _ signature: [UInt8]
  ) throws -> Stored<Record>? {
    let message = Vault.message(table.name, table.form, values)
    guard let key = try signingKey(context, table, values), key.isValid(signature, for: message)
    else {
      noteTampered(table, values)
      return nil
    }
    var fields = Fields(values)
    do throws(UnreadableRow) {
      return Stored(record: try table.decode(&fields, vault), values: values, signature: signature)
    } catch {
      noteTampered(table, values)
      return nil
    }
  }

  private func noteTampered<Record>(_ table: Table<Record>, _ values: [SQLValue]) {
    let key = values.prefix(table.keyCount).map(\.shown).joined(separator: "/")
    tampered.append(TamperedRow(table: table.name, key: key))
  }

  /// The key that signs a row; none when its pair is not there or signs nothing any more.
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

  /// Signs and verifies with a row pair from here on; nothing when it signs no rows, or none any more.
  @discardableResult
  func use(_ pair: Stored<KeyPair>) -> HMACKey? {
    guard pair.record.purpose == .rows, pair.record.state != .revoked else { return nil }
    let key = known.rowKey(of: pair, vault)
    rowKeys[pair.record.publicKey] = key
    return key
  }
}

// MARK: - Writing

extension SignedRows {
  /// Writes a new row; one that does not verify does not exist, so it is replaced.
  ///
  /// - Returns: the row's signature.
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

  /// Writes a new row unless one with its primary key, or with another value that must be unique, is there already.
  ///
  /// - Returns: whether it was written.
  func insertNew<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ record: Record
  ) throws -> Bool {
    let values = table.encode(record, vault)
    let signature = try signature(context, table, values)
    return try context.insertNew(
      table.insert, table.insertNew, values + [.blob(signature)], touching: TouchedRow(table, values))
  }

  /// Writes some columns of a row that was read in this transaction, and its signature with them.
  ///
  /// - Returns: what the row is then.
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
    // The signature is the row's version: a row that is not the one that was read is left alone.
    bound.append(.blob(stored.signature))
    try context.changeOne(
      SQL(unsafeRawSQL: change.text, bound), of: table.name,
      touching: [TouchedRow(table, stored.values), TouchedRow(table, values)])
    return (values, signature)
  }

  /// The same for columns that are known only now.
  @discardableResult
  func update<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ stored: Stored<Record>,
    _ changes: [(name: String, value: SQLValue)]
  ) throws -> (values: [SQLValue], signature: [UInt8]) {
    try update(context, table, stored, table.change(of: changes.map(\.name)), changes.map(\.value))
  }

  /// Writes some columns of a row that an earlier transaction read, if it is still the very same row, and nothing that
  /// it stands on can have changed meanwhile: then nothing need be read again, and the row's key is the one from then.
  ///
  /// - Returns: false when that is not known, and nothing was written.
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

  /// Writes a record in place of the one that was read, or as a new row.
  ///
  /// - Returns: what is read of it from now on.
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

/// Ends a loop over rows; it never leaves this file.
private struct Enough: Error {}
