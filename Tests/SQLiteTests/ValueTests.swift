internal import SQLite
internal import Testing

@Suite("SQLite values and rows")
struct ValueTests {
  @Test(arguments: [
    SQLValue.null, .integer(0), .integer(.min), .integer(.max), .real(-0.5), .real(1e300),
    .text(""), .text("Grüße, 안녕 🎬"), .text("a\u{0}b"), .text("'; DROP TABLE thing; --"),
    .blob([]), .blob([0, 1, 255]),
  ])
  func `a value is read back as it was written`(value: SQLValue) async throws {
    try await withThings { database in
      let kinds: [String] = ["null", "integer", "real", "text", "blob"]
      let back = try await database.read { context in
        try context.first("SELECT \(value), typeof(\(value))") { row -> SQLValue in
          let kind = try row.text(1)
          #expect(kinds.contains(kind))
          switch kind {
          case "integer": return .integer(try row.integer(0))
          case "real": return .real(try row.real(0))
          case "text": return .text(try row.text(0))
          case "blob": return .blob(try row.blob(0))
          default: return try row.isNull(0) ? .null : .text("not null")
          }
        }
      }
      #expect(back == value)
    }
  }

  @Test func `columns are read by their type`() async throws {
    try await withThings { database in
      let row = try await database.read { context in
        try context.first("SELECT 7, 'seven', x'0707', 7.5, NULL, 1") { row in
          let bytes: [UInt8] = try row.get(2)
          let nothing: String? = try row.get(4)
          return (
            try row.get(0, as: Int.self), try row.get(1, as: String.self), bytes,
            try row.get(3, as: Double.self), nothing, try row.get(5, as: Bool.self)
          )
        }
      }
      let found = try #require(row)
      #expect(found == (7, "seven", [7, 7], 7.5, nil, true))
    }
  }

  @Test(arguments: ["'text'", "x'00'", "1.5", "NULL"])
  func `reading a column as another type is an error that names the column`(literal: String) async throws {
    try await withThings { database in
      let error = await #expect(throws: SQLiteError.self) {
        _ = try await database.read { context in
          try context.value("SELECT \(unsafeRawSQL: literal) AS wanted", as: Int64.self)
        }
      }
      #expect(error?.code == .mismatch)
      #expect(error?.message.contains("wanted") == true)
    }
  }

  @Test func `a text that is not UTF-8 is an error`() async throws {
    try await withThings { database in
      await #expect(throws: SQLiteError.self) {
        _ = try await database.read {
          try $0.value("SELECT CAST(x'ff41' AS TEXT)", as: String.self)
        }
      }
    }
  }

  @Test func `a column that does not exist is an error`() async throws {
    try await withThings { database in
      for column in [-1, 1] {
        let error = await #expect(throws: SQLiteError.self) {
          _ = try await database.read { try $0.first("SELECT 1") { try $0.integer(column) } }
        }
        #expect(error?.code == .range)
      }
    }
  }

  @Test func `a list is bound value by value`() async throws {
    try await withThings { database in
      try await database.write { context in
        for name in ["a", "b", "c) OR (1"] { try insert(name, in: context) }
      }
      let found = try await database.read { context in
        try context.all(
          "SELECT name FROM thing WHERE name IN \(list: ["b", "c) OR (1"]) ORDER BY 1"
        ) {
          try $0.text(0)
        }
      }
      #expect(found == ["b", "c) OR (1"])
      let none = try await database.read { context in
        try context.exists("SELECT 1 FROM thing WHERE name IN \(list: [String]())")
      }
      #expect(!none)
    }
  }

  @Test(arguments: ["SELECT 1; SELECT 2", "", "-- nothing", "SELECT", "SELECT \"no such column\""])
  func `a request runs exactly one valid statement`(text: String) async throws {
    try await withThings { database in
      await #expect(throws: SQLiteError.self) {
        _ = try await database.read { try $0.exists("\(unsafeRawSQL: text)") }
      }
    }
  }

  @Test func `a query may run inside its own loop`() async throws {
    try await withThings { database in
      try await database.write { context in
        for name in ["a", "b"] { try insert(name, in: context) }
      }
      let pairs = try await database.read { context in
        var pairs: [String] = []
        try context.each("SELECT name FROM thing ORDER BY id") { outer in
          let first = try outer.text(0)
          try context.each("SELECT name FROM thing ORDER BY id") { inner in
            pairs.append(first + (try inner.text(0)))
          }
        }
        return pairs
      }
      #expect(pairs == ["aa", "ab", "ba", "bb"])
    }
  }

  @Test func `more statements than the cache holds can be used`() async throws {
    try await withThings { database in
      let sum = try await database.read { context in
        var sum = 0
        for number in 1...300 {
          sum += try context.value("SELECT \(unsafeRawSQL: String(number))", as: Int.self) ?? 0
        }
        return sum
      }
      #expect(sum == 45_150)
    }
  }
}
