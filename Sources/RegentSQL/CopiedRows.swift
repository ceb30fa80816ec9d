/// Some rows of one table on their way from one database to another: as they are, whatever they mean.
public struct CopiedRows: Sendable {
  public let table: String
  public let columns: [String]
  /// The values of each row, in the order of `columns`.
  public let rows: [[SQLValue]]

  /// Some rows, as their database gave them.
  public init(table: String, columns: [String], rows: [[SQLValue]]) {
    self.table = table
    self.columns = columns
    self.rows = rows
  }
}

/// How many rows a table has, and a hash over all of them in their order.
public struct TableSum: Hashable, Sendable {
  public let rows: Int
  public let hash: [UInt8]

  /// What a walk over a table came to.
  public init(rows: Int, hash: [UInt8]) {
    self.rows = rows
    self.hash = hash
  }
}

/// What one walk over everything in a store found.
public struct StoreSurvey: Sendable {
  /// The tables that are walked, whatever the database is.
  public var sums: [String: TableSum] = [:]
  /// How many rows do not carry the service's signature, or hold a seal that does not open.
  public var unverified = 0
  /// What is missing from the audit log, in words.
  public var gaps: [String] = []
  /// Rows that stand on others which are not there, in words.
  public var loose: [String] = []

  /// A survey of nothing.
  public init() {}

  /// How many rows there are.
  public var rows: Int { sums.values.reduce(0) { $0 + $1.rows } }

  /// The tables in which two stores differ.
  public func differences(from other: StoreSurvey) -> [String] {
    Set(sums.keys).union(other.sums.keys).filter { sums[$0] != other.sums[$0] }.sorted()
  }
}
