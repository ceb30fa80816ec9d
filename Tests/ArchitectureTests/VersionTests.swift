import TestSupport
import Testing

@Suite("The version and date of a release")
struct VersionTests {
  /// The rest of the first line that begins with `beginning`.
  private func value(after beginning: String, in path: String, except other: String? = nil) throws -> Substring {
    let lines = try text(path).split(separator: "\n").map { $0.drop { $0 == " " } }
    let line = lines.first { line in
      line.hasPrefix(beginning) && other.map { line.hasPrefix(beginning + $0) } != true
    }
    return try #require(line, "\(path) has no line \(beginning)").dropFirst(beginning.count)
  }

  private func version() throws -> String {
    let quoted = try value(after: "public let regentVersion = ", in: "Sources/RegentPairing/Version.swift")
    return String(quoted.dropFirst().dropLast())
  }

  @Test func `the version is written in one file of Sources only`() throws {
    for file in try swiftFiles(below: "Sources") where file.path != "Sources/RegentPairing/Version.swift" {
      for line in file.codeLines {
        #expect(!line.contains("\"\(try version())\""), "\(file.path): import regentVersion")
      }
    }
  }

  @Test func `the OpenAPI description has the same version`() throws {
    #expect(try value(after: "\"version\": ", in: "web/openapi.json") == "\"\(try version())\",")
  }

  @Test func `the newest release in the changelog has the version and day of the code`() throws {
    // The unreleased section has no version and no day.
    let heading = try value(after: "## [", in: "CHANGELOG.md", except: "Unreleased]")
    let words = heading.split(separator: " ").map(String.init)
    #expect(words.first == "\(try version())]", "the newest entry of CHANGELOG.md is \(heading)")
    let milliseconds = try value(
      after: "public let regentReleased: Int64 = ", in: "Sources/RegentPairing/Version.swift")
    let released = try #require(Int64(milliseconds.filter { $0 != "_" }))
    #expect(released % 86_400_000 == 0, "the day begins at midnight UTC")
    #expect(words.last == calendarDate(ofDay: released / 86_400_000))
  }

  /// The date of the day with this number; day 0 is 1 January 1970.
  private func calendarDate(ofDay number: Int64) -> String {
    func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
    var rest = number
    var year: Int64 = 1970
    while rest >= (isLeap(year) ? 366 : 365) {
      rest -= isLeap(year) ? 366 : 365
      year += 1
    }
    var month = 1
    for length in [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as [Int64] {
      if rest < length { break }
      rest -= length
      month += 1
    }
    func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(year)-\(padded(Int64(month)))-\(padded(rest + 1))"
  }
}
