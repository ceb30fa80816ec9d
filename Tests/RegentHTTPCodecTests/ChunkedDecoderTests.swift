import RegentHTTPCodec
import Testing

/// Decodes a body in pieces of `size` bytes.
///
/// Returns the decoded text and how many bytes it used, or the error.
private func verdict(_ text: String, cutInto size: Int, limit: Int = 100) -> String {
  let bytes = Array(text.utf8)
  var decoder = ChunkedDecoder(limit: limit)
  var body: [UInt8] = []
  var used = 0
  do throws(MessageError) {
    while used < bytes.count, !decoder.isComplete {
      let piece = Array(bytes[used..<min(bytes.count, used + size)])
      let taken = try decoder.decode(piece.span, into: &body)
      used += taken
      if taken < piece.count { break }
    }
  } catch {
    return "\(error)"
  }
  let text = String(decoding: body, as: UTF8.self)
  return decoder.isComplete ? "\(text) \(used)" : "\(text) …"
}

@Suite("Chunked bodies")
struct ChunkedDecoderTests {
  static let bodies: [(String, String)] = [
    ("0\r\n\r\n", " 5"),
    ("5\r\nhello\r\n0\r\n\r\nGET", "hello 15"),
    ("2\r\nhe\r\n003\r\nllo\r\n000\r\n\r\n", "hello 24"),
    ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789 20"),
    ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789 20"),
    ("1;x\r\na\r\n0;y=\"; \\\" \"\r\n\r\n", "a 23"),
    ("1 ;x=y\r\na\r\n0\r\n\r\n", "a 16"),
    ("1\r\na\r\n0\r\nX: 1\r\nContent-Length: 9\r\n\r\n", "a 36"),
    ("5\r\nhel", "hel …"),
    ("", " …"),
    ("0x3\r\nabc\r\n0\r\n\r\n", "\(MessageError.chunkSize)"),
    ("-3\r\nabc\r\n0\r\n\r\n", "\(MessageError.chunkSize)"),
    ("+3\r\nabc\r\n0\r\n\r\n", "\(MessageError.chunkSize)"),
    (" 3\r\nabc\r\n0\r\n\r\n", "\(MessageError.chunkSize)"),
    ("3 \r\nabc\r\n0\r\n\r\n", "\(MessageError.chunkExtension)"),
    ("\r\n3\r\nabc\r\n0\r\n\r\n", "\(MessageError.chunkSize)"),
    ("3\nabc\r\n0\r\n\r\n", "\(MessageError.chunkSize)"),
    ("3\rxabc\r\n0\r\n\r\n", "\(MessageError.chunkSize)"),
    ("g\r\n", "\(MessageError.chunkSize)"),
    ("fffffffffffffffff\r\n", "\(MessageError.chunkSize)"),
    ("0000000000000001\r\na\r\n", "\(MessageError.chunkSize)"),
    ("ffffffffffffff\r\n", "\(MessageError.bodyTooLarge)"),
    ("65\r\n", "\(MessageError.bodyTooLarge)"),
    ("3\r\nabcd\r\n0\r\n\r\n", "\(MessageError.chunkEnding)"),
    ("3\r\nabc\n0\r\n\r\n", "\(MessageError.chunkEnding)"),
    ("3\r\nabc0\r\n\r\n", "\(MessageError.chunkEnding)"),
    ("3\r\nabc\rx0\r\n\r\n", "\(MessageError.chunkEnding)"),
    ("1;\u{0}\r\na\r\n0\r\n\r\n", "\(MessageError.chunkExtension)"),
    ("1;a\nb\r\na\r\n0\r\n\r\n", "\(MessageError.chunkExtension)"),
    ("1;\"a\r\na\r\n0\r\n\r\n", "\(MessageError.chunkExtension)"),
    ("0\r\n X: 1\r\n\r\n", "\(MessageError.trailer)"),
    ("0\r\nX : 1\r\n\r\n", "\(MessageError.trailer)"),
    ("0\r\nX: 1\n\r\n", "\(MessageError.trailer)"),
    ("0\r\n\n", "\(MessageError.trailer)"),
  ]

  @Test("chunked bodies are decoded alike in pieces of any size", arguments: bodies)
  func decodes(text: String, expected: String) {
    for size in [1000, 1, 2, 5] { #expect(verdict(text, cutInto: size) == expected, "cut \(size)") }
  }

  @Test func `the body limit counts all chunks together`() {
    #expect(verdict("2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", cutInto: 3, limit: 4) == "abcd 19")
    #expect(
      verdict("2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n", cutInto: 3, limit: 4)
        == "\(MessageError.bodyTooLarge)")
  }

  @Test func `chunk extensions and trailers have their own limits`() {
    let long = "1;" + String(repeating: "a", count: 5000) + "\r\na\r\n0\r\n\r\n"
    #expect(verdict(long, cutInto: 1000) == "\(MessageError.chunkExtension)")
    let many = String(repeating: "1;abcdef\r\na\r\n", count: 90) + "0\r\n\r\n"
    #expect(verdict(many, cutInto: 1000) != "\(MessageError.chunkExtension)")
    let trailers = "0\r\n" + String(repeating: "X: 1\r\n", count: 33) + "\r\n"
    #expect(verdict(trailers, cutInto: 1000) == "\(MessageError.trailer)")
    let large = "0\r\nX: " + String(repeating: "a", count: 9000) + "\r\n\r\n"
    #expect(verdict(large, cutInto: 1000) == "\(MessageError.trailer)")
  }
}
