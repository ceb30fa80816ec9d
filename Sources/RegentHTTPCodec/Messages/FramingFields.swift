/// The header fields that decide where a message ends, parsed in the same way for requests and responses.
///
/// If a proxy and a server see the end of a message in different places, an attacker can smuggle a request past the
/// proxy. Therefore every field that is repeated or contradicts another is refused.
struct FramingFields: Sendable {
  private(set) var contentLength: Int?
  private(set) var isChunked = false
  private(set) var wantsClose = false

  mutating func note(_ field: HeaderField, in bytes: Span<UInt8>) throws(MessageError) {
    switch field.name.count {
    case 10 where bytes.equal(field.name, ignoringCase: "connection"):
      if try bytes.hasListMember(field.value, "close") { wantsClose = true }
    case 14 where bytes.equal(field.name, ignoringCase: "content-length"):
      guard contentLength == nil else { throw .repeatedContentLength }
      guard !isChunked else { throw .contentLengthAndTransferEncoding }
      contentLength = try bytes.decimal(field.value)
    case 17 where bytes.equal(field.name, ignoringCase: "transfer-encoding"):
      guard !isChunked else { throw .repeatedTransferEncoding }
      guard contentLength == nil else { throw .contentLengthAndTransferEncoding }
      try bytes.requireChunked(field.value)
      isChunked = true
    default:
      break
    }
  }
}

extension Span<UInt8> {
  /// Parses a decimal number of at most 18 digits.
  ///
  /// A longer number throws `bodyTooLarge`, because it exceeds every limit.
  fileprivate func decimal(_ range: ByteRange) throws(MessageError) -> Int {
    guard !range.isEmpty else { throw .contentLength }
    var number = 0
    for index in range.indices {
      guard self[index].isDigit else { throw .contentLength }
      if range.count <= 18 { number = number &* 10 &+ Int(self[index] &- 0x30) }
    }
    guard range.count <= 18 else { throw .bodyTooLarge }
    return number
  }

  fileprivate func requireChunked(_ range: ByteRange) throws(MessageError) {
    if equal(range, ignoringCase: "chunked") { return }
    // `gzip, chunked` is valid, but this parser does not support gzip. After `chunked, gzip` a receiver cannot tell
    // where the body ends.
    let tail = ByteRange(Swift.max(Int(range.start), Int(range.end) &- 7), Int(range.end))
    let endsWithChunked = equal(tail, ignoringCase: "chunked")
    let isList = range.indices.contains { self[$0] == 0x2C }
    throw isList && !endsWithChunked || range.isEmpty ? .transferEncoding : .transferCoding
  }

  /// Whether `member` is one of the tokens in a comma-separated list.
  fileprivate func hasListMember(_ range: ByteRange, _ member: String) throws(MessageError) -> Bool {
    var found = false
    var start = Int(range.start)
    while start < Int(range.end) {
      var end = start
      while end < Int(range.end), self[end] != 0x2C { end &+= 1 }
      let next = end &+ 1
      while start < end, self[start] == 0x20 || self[start] == 0x09 { start &+= 1 }
      while end > start, self[end &- 1] == 0x20 || self[end &- 1] == 0x09 { end &-= 1 }
      for index in start..<end where !self[index].isToken { throw .fieldValue }
      if equal(ByteRange(start, end), ignoringCase: member) { found = true }
      start = next
    }
    return found
  }

  /// Whether the range of bytes is HOST or HOST:PORT, where HOST is a name, an IPv4 address or an IPv6 address in
  /// brackets.
  func isAuthority(_ range: ByteRange) -> Bool {
    guard !range.isEmpty else { return false }
    let end = Int(range.end)
    var at = Int(range.start)
    if self[at] == 0x5B {
      at &+= 1
      let start = at
      while at < end, self[at].hexValue != nil || self[at] == 0x3A || self[at] == 0x2E { at &+= 1 }
      guard (2...45).contains(at &- start), at < end, self[at] == 0x5D else { return false }
      at &+= 1
    } else {
      let start = at
      while at < end, self[at].isHostName { at &+= 1 }
      guard (1...255).contains(at &- start) else { return false }
    }
    guard at < end else { return true }
    guard self[at] == 0x3A, (1...5).contains(end &- at &- 1) else { return false }
    var port = 0
    for index in (at &+ 1)..<end {
      guard self[index].isDigit else { return false }
      port = port &* 10 &+ Int(self[index] &- 0x30)
    }
    return port <= 65535
  }
}
