/// A name of the domain name system: labels of bytes, in which letters of either case are the same.
struct DNSName: Hashable {
  let labels: [[UInt8]]

  init(labels: [[UInt8]]) { self.labels = labels }

  /// A name that is written with dots between its labels.
  init(_ text: String) { labels = text.split(separator: ".").map { Array($0.utf8) } }

  /// The name with all letters small: what is compared.
  private var folded: [[UInt8]] {
    labels.map { label in label.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
  }

  static func == (one: DNSName, other: DNSName) -> Bool { one.folded == other.folded }

  func hash(into hasher: inout Hasher) { hasher.combine(folded) }

  /// The name without its first label.
  var parent: DNSName { DNSName(labels: Array(labels.dropFirst())) }

  /// As it stands in a message, nothing left out.
  var bytes: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }
}

/// The kinds of records that tell of a service (RFC 6763).
enum DNSKind: UInt16 {
  /// There is a service of that name.
  case pointer = 12
  /// What it says of itself.
  case text = 16
  /// Where it listens.
  case server = 33
}

/// One thing that an answer says; what is of no use here is not kept.
enum DNSRecord: Hashable {
  case pointer(of: DNSName, to: DNSName)
  case texts(of: DNSName, [[UInt8]])
  case port(of: DNSName, UInt16)
}

/// A datagram as an answer to a question of ours (RFC 1035, RFC 6762), read strictly: a stranger wrote it.
///
/// A message that is not whole, has bytes behind its end or more than 64 records is none. A compressed name points
/// backwards only, each time further than before, so that reading it ends.
struct DNSAnswer {
  let records: [DNSRecord]

  /// More bytes are no answer: what one datagram of multicast DNS may have (RFC 6762, 17).
  static let longest = 9_000
  private static let mostRecords = 64

  /// Reads a datagram.
  ///
  /// - Parameters:
  ///   - bytes: what came.
  ///   - id: what the question was called; an answer to another one is none.
  init?(_ bytes: [UInt8], to id: UInt16) {
    guard bytes.count <= Self.longest else { return nil }
    var reader = DNSReader(bytes)
    // An answer without an error: the first bit and the last four of the flags; the four of the operation are zero.
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

  /// A question about one name, as a program asks that only listens for its own answers (RFC 6762, 5.1).
  static func question(_ id: UInt16, _ name: DNSName, _ kinds: [DNSKind]) -> [UInt8] {
    let head: [UInt16] = [id, 0, UInt16(kinds.count), 0, 0, 0]
    return head.flatMap(\.bigEndianBytes)
      + kinds.flatMap { name.bytes + $0.rawValue.bigEndianBytes + internet.bigEndianBytes }
  }

  fileprivate static let internet: UInt16 = 1
}

extension UInt16 {
  fileprivate var bigEndianBytes: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }
}

/// Reads a message from its beginning on; everything gives nothing once something is wrong.
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
    // With its lengths a name has 255 bytes at most, the last zero among them.
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

  /// A record; its `known` is nil when it is of a kind or class that nobody here asks for.
  mutating func record() -> (known: DNSRecord?, Void)? {
    // Of the class the first bit says that older answers are to be forgotten: nothing is kept here.
    guard let owner = name(), let kind = number(), let place = number(), number() != nil, number() != nil,
      let length = number(), self.place + Int(length) <= bytes.count
    else { return nil }
    let end = self.place + Int(length)
    var record: DNSRecord?
    switch place & 0x7FFF == DNSAnswer.internet ? DNSKind(rawValue: kind) : nil {
    case .pointer:
      guard let target = name() else { return nil }
      record = .pointer(of: owner, to: target)
    case .server:
      // Before the port come priority and weight; the machine behind it is not what is called.
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
