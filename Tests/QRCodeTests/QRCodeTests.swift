import QRCode
import Testing

/// A text whose name in the test report is shortened.
struct Sample: CustomTestStringConvertible {
  let text: String
  var testDescription: String {
    "\(text.prefix(40).replacing("\n", with: "↵")) (\(text.utf8.count) bytes)"
  }
}

/// Texts for every mode of a QR code and of several sizes.
let samples = [
  "HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK",
  "https://tv.example.org/D/BCDFGHJK?from=box",
  "http://192.168.1.20:8787/D/BCDFGHJK",
  "0123456789",
  "a",
  "한국어 화면 등록 è perché ñandú",
  "line one\nline two\ttab",
  String(repeating: "HTTPS://A.EXAMPLE/", count: 40),
].map(Sample.init)

@Suite struct `QR codes` {
  @Test func `a URL in upper case gives a smaller code than in lower case`() throws {
    let upper = try QRCode("HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK")
    let lower = try QRCode("https://tv.example.org/d/bcdfghjk")
    #expect(upper.version == 2)
    #expect(upper.side == 25)
    #expect(lower.version == 3)
  }

  @Test func `the remaining room of a code is used for error correction`() throws {
    #expect(try QRCode("A").level == .high)
    // Version 1 holds 25 capital letters at the lowest level, then 20, 16 and 10.
    for (count, level) in [(25, QRCode.Level.low), (20, .medium), (16, .quartile), (10, .high)] {
      let code = try QRCode(String(repeating: "Q", count: count))
      #expect(code.version == 1)
      #expect(code.level == level)
    }
  }

  @Test func `a higher minimum level of error correction gives a larger code`() throws {
    let text = String(repeating: "Q", count: 25)
    let code = try QRCode(text, minimumLevel: .high)
    #expect(code.version > 1)
    #expect(code.level == .high)
  }

  @Test func `a code has three finder patterns and light surroundings`() throws {
    let code = try QRCode("HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK")
    for (x, y) in [(0, 0), (code.side - 7, 0), (0, code.side - 7)] {
      #expect((0..<7).allSatisfy { code.isDark(x + $0, y) && code.isDark(x, y + $0) })
      #expect(!code.isDark(x + 1, y + 1))
      #expect(code.isDark(x + 3, y + 3))
    }
    #expect(!code.isDark(-1, 0) && !code.isDark(0, -1))
    #expect(!code.isDark(code.side, 0) && !code.isDark(0, code.side))
    #expect(code.side == 17 + 4 * code.version)
  }

  @Test func `an empty text is refused`() {
    #expect(throws: QRCodeError.emptyText) { try QRCode("") }
  }

  @Test func `a text that is too long is refused with a hint`() throws {
    let longest = String(repeating: "x", count: 2953)
    #expect(try QRCode(longest).version == 40)
    let error = #expect(throws: QRCodeError.tooLong(bytes: 2954, level: .low)) {
      try QRCode(longest + "x")
    }
    #expect(error?.hint.contains("2,953") == true)
    #expect(throws: QRCodeError.tooLong(bytes: 2953, level: .high)) {
      try QRCode(longest, minimumLevel: .high)
    }
  }

  @Test func `a zero byte and the text after it are part of the code`() throws {
    let cut = try QRCode("ab")
    let whole = try QRCode("ab\0" + String(repeating: "c", count: 100))
    #expect(whole.version > cut.version)
  }

  @Test func `codes can be made on many threads at once`() async throws {
    let expected = try samples.map { try QRCode($0.text) }
    try await withThrowingTaskGroup(of: [QRCode].self) { group in
      for _ in 0..<8 { group.addTask { try samples.map { try QRCode($0.text) } } }
      for try await codes in group { #expect(codes == expected) }
    }
  }
}
