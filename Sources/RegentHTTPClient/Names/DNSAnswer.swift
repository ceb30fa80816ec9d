/// A DNS name: labels of bytes, compared without regard to the case of ASCII letters.
package struct DNSName: Hashable {
  package let labels: [[UInt8]]

  package init(labels: [[UInt8]]) { self.labels = labels }

  /// Parses a name with dots between its labels.
  package init(_ text: String) { labels = text.split(separator: ".").map { Array($0.utf8) } }

  /// The labels of the name in lower case, for comparison.
  private var folded: [[UInt8]] {
    labels.map { label in label.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
  }

  package static func == (one: DNSName, other: DNSName) -> Bool { one.folded == other.folded }

  package func hash(into hasher: inout Hasher) { hasher.combine(folded) }

  /// The name without its first label.
  package var parent: DNSName { DNSName(labels: Array(labels.dropFirst())) }

  /// The DNS name in wire format, without compression.
  package var bytes: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }
}

/// The record types of host names and of DNS service discovery (RFC 6763).
package enum DNSKind: UInt16 {
  /// A: an IPv4 address of a host.
  case address = 1
  /// AAAA: an IPv6 address of a host.
  case address6 = 28
  /// PTR: the record with the name of one service instance.
  case pointer = 12
  /// TXT: the record with the properties of a service instance.
  case text = 16
  /// SRV: the record with the host and port of a service instance.
  case server = 33
}

/// A record of a response.
///
/// Records of other types are not kept.
package enum DNSRecord: Hashable {
  /// The four or sixteen bytes of an address.
  case address(of: DNSName, [UInt8])
  case pointer(of: DNSName, to: DNSName)
  case texts(of: DNSName, [[UInt8]])
  case port(of: DNSName, UInt16)
}

/// A response to one of this program's queries (RFC 1035, RFC 6762).
///
/// The parser is strict, because any machine on the network may have sent the datagram.
///
/// A message is refused if it is truncated, has extra bytes at the end, or has more than 64 records. A compression
/// pointer must point further back than the one before, so that parsing always ends.
package struct DNSAnswer {
  package let records: [DNSRecord]

  /// The longest response in bytes: the limit of a multicast DNS datagram (RFC 6762, 17).
  package static let longest = 9_000
  private static let mostRecords = 64

  /// Parses a datagram as a response.
  ///
  /// - Parameters:
  ///   - bytes: the received datagram.
  ///   - id: the id of the query. Responses with another id are refused.
  package init?(_ bytes: [UInt8], to id: UInt16) {
    guard bytes.count <= Self.longest else { return nil }
    var reader = DNSReader(bytes)
    // The flags must be those of a response (QR bit) to a standard query (opcode 0) without an error (RCODE 0).
    guard reader.number() == id, let flags = reader.number(), flags & 0xF80F == 0x8000,
      let questions = reader.number(), let answers = reader.number(), let authorities = reader.number(),
      let additional = reader.number()
    else { return nil }
    let count = Int(answers) + Int(authorities) + Int(additional)
    guard count + Int(questions) <= Self.mostRecords else { return nil }
    for _ in 0..<questions {
      guard reader.name() != nil, reader.number() != nil, reader.number() != nil else { return nil }
    }
    var records: [DNSRecord] = []
    for _ in 0..<count {
      guard let record = reader.record() else { return nil }
      if let known = record.known { records.append(known) }
    }
    guard reader.isAtEnd else { return nil }
    self.records = records
  }

  /// Builds a one-shot query for one name, whose responses are sent to this program only (RFC 6762, 5.1).
  package static func question(_ id: UInt16, _ name: DNSName, _ kinds: [DNSKind]) -> [UInt8] {
    let head: [UInt16] = [id, 0, UInt16(kinds.count), 0, 0, 0]
    return head.flatMap(\.bigEndianBytes)
      + kinds.flatMap { name.bytes + $0.rawValue.bigEndianBytes + internet.bigEndianBytes }
  }

  fileprivate static let internet: UInt16 = 1
}

extension UInt16 {
  fileprivate var bigEndianBytes: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }
}

/// Reads a DNS message from start to end.
///
/// Each function returns `nil` if the message is malformed.
private struct DNSReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  mutating func number() -> UInt16? {
    guard place + 2 <= bytes.count else { return nil }
    defer { place += 2 }
    return UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
  }

  mutating func name() -> DNSName? {
    var labels: [[UInt8]] = []
    var (here, lowest) = (place, place)
    var end: Int?
    // A name has at most 255 bytes in wire format, including the final zero.
    var length = 1
    while here < bytes.count {
      let first = Int(bytes[here])
      switch first >> 6 {
      case 0 where first == 0:
        place = end ?? here + 1
        return DNSName(labels: labels)
      case 0:
        length += first + 1
        guard length <= 255, here + 1 + first <= bytes.count else { return nil }
        labels.append(Array(bytes[here + 1..<here + 1 + first]))
        here += 1 + first
      case 3:
        guard here + 1 < bytes.count else { return nil }
        let target = (first & 0x3F) << 8 | Int(bytes[here + 1])
        guard target < lowest else { return nil }
        end = end ?? here + 2
        (here, lowest) = (target, target)
      default: return nil
      }
    }
    return nil
  }

  /// Reads a DNS record.
  ///
  /// `known` is `nil` for a record of a type or class that is not used here.
  mutating func record() -> (known: DNSRecord?, Void)? {
    // The top bit of the class tells caches to drop older records. The bit is ignored, because nothing is cached.
    guard let owner = name(), let kind = number(), let place = number(), number() != nil, number() != nil,
      let length = number(), self.place + Int(length) <= bytes.count
    else { return nil }
    let end = self.place + Int(length)
    var record: DNSRecord?
    switch place & 0x7FFF == DNSAnswer.internet ? DNSKind(rawValue: kind) : nil {
    case .address, .address6:
      guard length == (kind == DNSKind.address.rawValue ? 4 : 16) else { return nil }
      record = .address(of: owner, Array(bytes[self.place..<end]))
      self.place = end
    case .pointer:
      guard let target = name() else { return nil }
      record = .pointer(of: owner, to: target)
    case .server:
      // In an SRV record the port follows priority and weight. The target host is not used, because the TXT record
      // contains the address.
      guard length >= 7, number() != nil, number() != nil, let port = number(), name() != nil else { return nil }
      record = .port(of: owner, port)
    case .text:
      guard let texts = texts(until: end) else { return nil }
      record = .texts(of: owner, texts)
    case nil: self.place = end
    }
    guard self.place == end else { return nil }
    return (record, ())
  }

  private mutating func texts(until end: Int) -> [[UInt8]]? {
    var texts: [[UInt8]] = []
    while place < end {
      let length = Int(bytes[place])
      guard place + 1 + length <= end else { return nil }
      texts.append(Array(bytes[place + 1..<place + 1 + length]))
      place += 1 + length
    }
    return texts
  }
}
