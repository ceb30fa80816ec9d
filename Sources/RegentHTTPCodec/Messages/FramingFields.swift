/// The fields that decide where a message ends, read the same way in requests and responses.
///
/// Two different answers to "where does this message end" are how requests are smuggled past a proxy, so whatever
/// is said twice or in two ways is refused.
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
  /// A decimal number of at most 18 digits; a longer one is a body larger than any limit.
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
    // `gzip, chunked` is well formed, only not supported; `chunked, gzip` has no end that could be known.
    let tail = ByteRange(Swift.max(Int(range.start), Int(range.end) &- 7), Int(range.end))
    let endsWithChunked = equal(tail, ignoringCase: "chunked")
    let isList = range.indices.contains { self[$0] == 0x2C }
    throw isList && !endsWithChunked || range.isEmpty ? .transferEncoding : .transferCoding
  }

  /// Whether a comma-separated list of tokens has `member`.
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

  /// Whether the stretch is HOST or HOST:PORT, where HOST is a name, an IPv4 address or an IPv6 address in brackets.
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
