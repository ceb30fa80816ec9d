/// Rows of one table that are copied unchanged from one database to another.
public struct CopiedRows: Sendable {
  public let table: String
  public let columns: [String]
  /// The rows; each row has its values in the order of `columns`.
  public let rows: [[SQLValue]]

  public init(table: String, columns: [String], rows: [[SQLValue]]) {
    self.table = table
    self.columns = columns
    self.rows = rows
  }
}

/// How many rows a table has, and a hash of all its rows in their order.
public struct TableSum: Hashable, Sendable {
  public let rows: Int
  public let hash: [UInt8]

  public init(rows: Int, hash: [UInt8]) {
    self.rows = rows
    self.hash = hash
  }
}

/// The result of reading and verifying all rows of a store.
public struct StoreWalkResult: Sendable {
  /// The row count and hash of each compared table, by the table's name.
  ///
  /// Equal rows have equal sums in SQLite and PostgreSQL.
  public var sums: [String: TableSum] = [:]
  /// How many rows lack a valid signature of the service, or contain sealed data that cannot be opened.
  public var unverified = 0
  /// Missing lines of the audit log, described for operators.
  public var gaps: [String] = []
  /// Foreign keys that refer to missing rows, described for operators.
  public var loose: [String] = []

  public init() {}

  /// The number of rows in all tables.
  public var rows: Int { sums.values.reduce(0) { $0 + $1.rows } }

  /// The names of the tables in which two stores differ.
  public func differences(from other: StoreWalkResult) -> [String] {
    Set(sums.keys).union(other.sums.keys).filter { sums[$0] != other.sums[$0] }.sorted()
  }
}
