import RegentPairing
import RegentSQL

/// The columns that hold one value of a record, and the conversion in both directions.
///
///     .column("id", \.id), .column("text", \.text), make: NumbersRecord.init
///
/// The type of the value gives the type of its column (``ColumnValue``). The order of the columns is the order in which
/// they are signed. `make` gets the values in this order.
struct Columns<Record: Sendable, Value: Sendable>: Sendable {
  typealias Get<Part> = @Sendable (Record) -> Part
  typealias Make<Stored> = @Sendable (Stored) throws(UnreadableRow) -> Value

  let list: [Column]
  let write: @Sendable (inout RowDraft<Record>) -> Void
  let read: @Sendable (inout Fields) throws(UnreadableRow) -> Value

  private init(
    _ column: Column, write: @escaping @Sendable (inout RowDraft<Record>) -> Void,
    read: @escaping @Sendable (inout Fields) throws(UnreadableRow) -> Value
  ) {
    self.init([column], write, read)
  }

  private init(
    _ list: [Column], _ write: @escaping @Sendable (inout RowDraft<Record>) -> Void,
    _ read: @escaping @Sendable (inout Fields) throws(UnreadableRow) -> Value
  ) {
    (self.list, self.write, self.read) = (list, write, read)
  }

  /// Several columns that hold one value together.
  init<each Part: Sendable>(
    _ parts: repeat Columns<Record, each Part>,
    make: @escaping @Sendable (repeat each Part) throws(UnreadableRow) -> Value
  ) {
    var list: [Column] = []
    // A chain of closures: a loop over an array of them costs a fifth more instructions for each row.
    var write: @Sendable (inout RowDraft<Record>) -> Void = { _ in }
    for part in repeat each parts {
      list += part.list
      write = { [write] draft in
        write(&draft)
        part.write(&draft)
      }
    }
    self.list = list
    self.write = write
    read = { fields throws(UnreadableRow) in try make(repeat try (each parts).read(&fields)) }
  }

  static func column(_ name: String, _ get: @escaping Get<Value>) -> Columns where Value: ColumnValue {
    Columns(Column(name: name, kind: Value.kind, isNullable: Value.isNullable)) { draft in
      draft.values.append(get(draft.record).column)
    } read: { fields throws(UnreadableRow) in
      try Value(column: fields.take())
    }
  }

  /// A column whose stored form has another type than the value.
  static func column<Stored: ColumnValue>(
    _ name: String, isLong: Bool = false, _ get: @escaping Get<Stored>, read make: @escaping Make<Stored>
  ) -> Columns {
    Columns(Column(name: name, kind: Stored.kind, isLong: isLong, isNullable: Stored.isNullable)) { draft in
      draft.values.append(get(draft.record).column)
    } read: { fields throws(UnreadableRow) in
      try make(Stored(column: fields.take()))
    }
  }

  /// An encrypted column.
  static func sealed(_ name: String, _ get: @escaping Get<Value>) -> Columns where Value: SealedValue {
    Columns(Column(name: name, kind: .bytes, isSealed: true)) { draft in
      draft.values.append(.blob(get(draft.record).sealedBytes))
    } read: { fields throws(UnreadableRow) in
      try present(Value(sealedBytes: fields.opened()))
    }
  }

  static func viewer(_ get: @escaping Get<Viewer>) -> Columns where Value == Viewer {
    Columns(
      .column("provider") { @Sendable in get($0).provider }, .column("account") { @Sendable in get($0).account },
      make: Viewer.init)
  }

  /// The columns of a part of the record that has a description of its own.
  static func columns<Part>(_ part: Columns<Part, Value>, of get: @escaping Get<Part>) -> Columns {
    Columns(part.list) { draft in
      var inner = RowDraft(record: get(draft.record))
      swap(&inner.values, &draft.values)
      part.write(&inner)
      swap(&inner.values, &draft.values)
    } _: { fields throws(UnreadableRow) in
      try part.read(&fields)
    }
  }

  /// The values of these columns, before encryption.
  func values(of record: Record) -> [SQLValue] {
    var draft = RowDraft(record: record)
    draft.values.reserveCapacity(list.count)
    write(&draft)
    return draft.values
  }
}

/// A record and the values of its row as far as they are written.
struct RowDraft<Record> {
  let record: Record
  var values: [SQLValue] = []
}
