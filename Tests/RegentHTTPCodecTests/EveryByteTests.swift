import RegentHTTPCodec
import Testing

/// Compares the parser's bit masks with the grammar of RFC 9110 and RFC 3986 for every byte at every place.
@Suite struct EveryByteTests {
  private static let alphanumeric = Set(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let token = alphanumeric.union("!#$%&'*+-.^_`|~".utf8)
  private static let value = Set(0x20...0x7E as ClosedRange<UInt8>).union(0x80...0xFF).union([0x09])
  private static let path = alphanumeric.union("-._~!$&'()*+,;=:@/%".utf8)
  /// The characters of RFC 3986, and those that browsers leave unescaped in queries.
  private static let query = path.union("?[]^`{|}".utf8)
  private static let host = alphanumeric.union("-._~".utf8)

  private struct Place: CustomStringConvertible {
    let description: String
    let before: String
    let after: String
    let allowed: Set<UInt8>
  }

  private static let places = [
    Place(
      description: "the path", before: "GET /a", after: "b HTTP/1.1\r\nHost: h\r\n\r\n",
      allowed: path.union("? ".utf8).subtracting(" ".utf8)),
    Place(
      description: "the query", before: "GET /?a", after: "b HTTP/1.1\r\nHost: h\r\n\r\n",
      allowed: query),
    Place(
      description: "a name", before: "GET / HTTP/1.1\r\nHost: h\r\na", after: "b: c\r\n\r\n",
      allowed: token.union(":".utf8)),
    Place(
      description: "the start of a name", before: "GET / HTTP/1.1\r\nHost: h\r\n",
      after: "b: c\r\n\r\n", allowed: token),
    Place(
      description: "a value", before: "GET / HTTP/1.1\r\nHost: h\r\na: b", after: "c\r\n\r\n",
      allowed: value),
    Place(
      description: "the host", before: "GET / HTTP/1.1\r\nHost: a", after: "b\r\n\r\n",
      allowed: host),
    Place(
      description: "a length", before: "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1",
      after: "1\r\n\r\n", allowed: Set("0123456789".utf8)),
    Place(
      description: "the version", before: "GET / HTTP/1.", after: "\r\nHost: h\r\n\r\n",
      allowed: Set("01".utf8)),
  ]

  /// Values are read eight bytes at a time, so a bad byte must be found at every position and among any neighbours.
  @Test(arguments: 0..<18)
  private func `a byte of a header value is checked at every position and among any neighbours`(place: Int) {
    for byte in 0...255 as ClosedRange<UInt8> {
      for other in [0x09, 0x20, 0x21, 0x61, 0x7E, 0x80, 0xFF] as [UInt8] {
        var text = [UInt8](repeating: other, count: 18)
        text[place] = byte
        let bytes = Array("GET / HTTP/1.1\r\nHost: h\r\na: x".utf8) + text + Array("\r\n\r\n".utf8)
        var head = RequestHead()
        let length = try? head.parse(bytes.span, limits: HeadLimits())
        #expect((length == bytes.count) == Self.value.contains(byte), "\(byte) at \(place) among \(other)")
      }
    }
  }

  @Test(arguments: places.indices)
  private func `exactly the bytes that the grammar allows are accepted`(index: Int) {
    let place = Self.places[index]
    for byte in 0...255 as ClosedRange<UInt8> {
      let bytes = Array(place.before.utf8) + [byte] + Array(place.after.utf8)
      var head = RequestHead()
      let length = try? head.parse(bytes.span, limits: HeadLimits())
      #expect((length == bytes.count) == place.allowed.contains(byte), "\(place): byte \(byte)")
    }
  }

  @Test func `a chunk size accepts exactly hexadecimal digits`() {
    let hexadecimal = Set("0123456789ABCDEFabcdef".utf8)
    for byte in 0...255 as ClosedRange<UInt8> {
      let bytes = Array("0".utf8) + [byte] + Array("\r\n".utf8)
      var decoder = ChunkedDecoder(limit: 1000)
      var body: [UInt8] = []
      let taken = try? decoder.decode(bytes.span, into: &body)
      // A semicolon begins a chunk extension, which must have a name, so it is refused here, too.
      #expect((taken == bytes.count) == hexadecimal.contains(byte), "byte \(byte)")
    }
  }
}
