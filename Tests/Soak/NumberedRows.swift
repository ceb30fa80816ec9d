internal import Glibc
internal import SQLite
internal import TestSupport

/// The database that the soak runs write: numbered rows, large enough to split pages.
func numberedRows(at path: String) -> DatabaseOptions {
  DatabaseOptions(
    path: path, applicationID: 0x50A1,
    migrations: [
      Migration("rows") { context in
        try context.runScript(
          """
          CREATE TABLE numbered (id INTEGER PRIMARY KEY, mark BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT;
          """)
      }
    ])
}

func insertRow(_ number: Int, in context: borrowing WriteContext) throws {
  // The mark scatters over the unique index, like a hash.
  let mark = withoutOrder(number)
  let body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100 + number % 300)
  try context.run("INSERT INTO numbered (id, mark, body) VALUES (\(number), \(mark), \(body))")
}

private func withoutOrder(_ number: Int) -> [UInt8] {
  let scattered = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
  return (0..<8).map { UInt8(truncatingIfNeeded: scattered >> ($0 * 8)) }
}

/// The differences between the acknowledged rows and the rows that were found.
struct Verdict {
  var lost: [Int] = []
  var invented: [Int] = []
  var damage: [String] = []

  var isGood: Bool { lost.isEmpty && invented.isEmpty && damage.isEmpty }
}

/// Opens the file as the service would after a crash and compares its rows with the acknowledged ones.
func judge(path: String, acknowledged: Set<Int>, submitted: Set<Int>) throws -> Verdict {
  let rows: Set<Int>
  let damage: [String]
  do {
    let database = try Database(numberedRows(at: path))
    defer { database.close() }
    (rows, damage) = try database.readBlocking { context in
      (
        Set(try context.all("SELECT id FROM numbered") { try $0.get(0, as: Int.self) }),
        try context.all("PRAGMA integrity_check") { try $0.text(0) }.filter { $0 != "ok" }
      )
    }
  } catch let error as SQLiteError {
    // A file that cannot even be read has lost everything.
    return Verdict(lost: acknowledged.sorted(), damage: ["\(error)"])
  }
  return Verdict(
    lost: acknowledged.subtracting(rows).sorted(), invented: rows.subtracting(submitted).sorted(),
    damage: damage)
}

func makeFolder(_ path: String) throws {
  guard unsafe mkdir(path, 0o700) == 0 else { throw TestSupportError("cannot make \(path)") }
}
