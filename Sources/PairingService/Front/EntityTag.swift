internal import RegentCryptography
internal import RegentEncodings

/// Entity tags, with which a client names the version of a document that it already has (RFC 9110 §8.8.3).
enum EntityTag {
  static func of(_ body: [UInt8]) -> String { "\"\(Hex.encode(Array(SHA256.hash(body).prefix(16))))\"" }

  /// Whether one of the `If-None-Match` headers contains the tag; weak tags match as well (RFC 9110 §13.1.2).
  static func isNamed(_ tag: String, in headers: some Sequence<String>) -> Bool {
    headers.contains { list in
      list.split(separator: ",").contains { item in
        var item = item.drop { $0 == " " || $0 == "\t" }
        while item.last == " " || item.last == "\t" { item.removeLast() }
        if item.hasPrefix("W/") { item.removeFirst(2) }
        return item == "*" || item == tag
      }
    }
  }
}
