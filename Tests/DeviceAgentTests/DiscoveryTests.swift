import Glibc
import RegentHTTPClient
import RegentHTTPCodec
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Service discovery by DNS-SD` {
  private static let id: UInt16 = 0x5247
  private static let kind = ["_regent", "_tcp", "local"]
  private static let good = ["txtvers=1", "tls=1", "host=tv.example.org", "path=/"]

  @Test func `a service is found whether its records come in one message or several`() {
    let den = Said(name: "Regent on den", port: 443, texts: Self.good)
    var atOnce = FoundServices(id: Self.id)
    atOnce.hear(Self.message(den.records))
    #expect(atOnce.services.map(\.address.description) == ["https://tv.example.org"])
    #expect(atOnce.services.map(\.name) == ["Regent on den"])
    #expect(atOnce.questions.count == 1)

    var inParts = FoundServices(id: Self.id)
    inParts.hear(Self.message([den.records[0]]))
    #expect(inParts.services.isEmpty)
    #expect(inParts.questions.count == 2, "who is there, and where the one is that did not say so")
    #expect(inParts.questions.last == DNSAnswer.question(Self.id, Self.name("Regent on den"), [.server, .text]))
    inParts.hear(Self.message([den.records[1]]))
    inParts.hear(Self.message([den.records[2]]))
    #expect(inParts.services == atOnce.services && inParts.questions.count == 1)
  }

  @Test func `compressed names, repeated questions and capital letters are understood`() {
    let question = Self.labels(Self.kind) + [0, 12, 0, 1]
    let name: [UInt8] = [3] + "den".utf8 + [0xC0, 12]
    let texts = ["TXTVERS=1", "tls=0", "host=192.168.7.1", "path=/tv", "later=this"]
    let records = [
      Self.record([7] + "_REGENT".utf8 + [4] + "_tcp".utf8 + [5] + "LOCAL".utf8 + [0], 12, name),
      // The first bit of the class asks listeners to drop cached records.
      Self.record(name, 33, [0, 0, 0, 0, 0x22, 0x53, 3] + Array("den".utf8) + [0xC0, 25], place: 0x8001),
      Self.record(name, 16, texts.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }),
      Self.record(name, 47, [1, 2, 3]), Self.record([0], 41, [], place: 1_440),
    ]
    var found = FoundServices(id: Self.id)
    found.hear(Self.message(records, question: question))
    #expect(found.services.map(\.address.description) == ["http://192.168.7.1:8787/tv"])
  }

  @Test func `a message that is cut, too long or not an answer to this query is ignored`() {
    let whole = Self.message(Said(name: "den", port: 443, texts: Self.good).records)
    for count in whole.indices {
      #expect(DNSAnswer(Array(whole.prefix(count)), to: Self.id) == nil, "\(count) bytes")
    }
    #expect(DNSAnswer(whole, to: Self.id) != nil)
    #expect(DNSAnswer(whole + [0], to: Self.id) == nil)
    #expect(DNSAnswer(whole, to: Self.id + 1) == nil)
    for (index, value) in [(2, UInt8(0x04)), (3, 0x03), (2, 0xAC)] {
      var other = whole
      other[index] = value
      #expect(DNSAnswer(other, to: Self.id) == nil, "a question, an error, another operation")
    }
  }

  @Test func `a hostile message cannot cause endless parsing`() {
    // A name that points at itself, ahead or in a circle, and one that is too long.
    for pointer in [[0xC0, 12], [0xC0, 0xFF], [1, 0x61, 0xC0, 12]] as [[UInt8]] {
      #expect(DNSAnswer(Self.message([Self.record(pointer, 12, [0])]), to: Self.id) == nil, "\(pointer)")
    }
    let long = Array(repeating: String(repeating: "a", count: 63), count: 4)
    #expect(DNSAnswer(Self.message([Self.record(Self.labels(long), 12, [0])]), to: Self.id) == nil)
    #expect(DNSAnswer(Self.message([Self.record([0x41], 12, [0])]), to: Self.id) == nil, "a length of no kind")
    let many = Array(repeating: Self.record([0], 12, [0]), count: 65)
    #expect(DNSAnswer(Self.message(Array(many.dropLast())), to: Self.id)?.records.count == 64)
    #expect(DNSAnswer(Self.message(many), to: Self.id) == nil)
    #expect(DNSAnswer([UInt8](repeating: 0, count: DNSAnswer.longest + 1), to: Self.id) == nil)
  }

  @Test(arguments: [
    ["tls=1", "host=tv.example.org", "path=/"], ["txtvers=2", "tls=1", "host=tv.example.org", "path=/"],
    ["txtvers=1", "tls=1", "host=a.example", "path=/", "HOST=b.example"],
    ["txtvers=1", "tls=yes", "host=a.example", "path=/"],
    ["txtvers=1", "tls=1", "host=", "path=/"], ["txtvers=1", "tls=1", "host=a.example", "path=tv"],
    ["txtvers=1", "tls=1", "host=a.example@b.example", "path=/"],
    ["txtvers=1", "tls=1", "host=a.example/x#", "path=/"],
    ["txtvers=1", "tls=1", "host=a.example:1", "path=/"], ["txtvers=1", "tls=1", "host=a.example", "path=/?x=1"],
    ["txtvers=1", "tls=1", "host=a.example", "path=/#x"], ["txtvers=1", "tls=1", "host=A.example", "path=/"],
    ["txtvers=1", "tls=0", "host=127.0.0.1", "path=/"], ["txtvers=1", "tls=0", "host=localhost", "path=/"],
    ["txtvers=1", "tls=1", "host=a\u{202e}.example", "path=/"],
    ["txtvers=1", "tls=1", "host=a.example", "path=/\u{1b}[2J"],
    ["txtvers=1", "tls=1", "host=0x7f.1", "path=/"],
  ])
  func `a service with an invalid address is ignored`(texts: [String]) {
    var found = FoundServices(id: Self.id)
    found.hear(Self.message(Said(name: "den", port: 8787, texts: texts).records))
    #expect(found.services.isEmpty)
    #expect(found.questions.count == 1, "nothing more is asked of it")
  }

  @Test func `the number of services is limited, each address appears once, and the first record for a name wins`() {
    var found = FoundServices(id: Self.id)
    for number in 0..<20 {
      let texts = Self.good.map { $0.replacing("tv.", with: "tv\(number / 2).") }
      found.hear(Self.message(Said(name: "box \(number)", port: 443, texts: texts).records))
    }
    #expect(found.services.count == 8)
    let first = found.services
    found.hear(
      Self.message(Said(name: "box 0", port: 8443, texts: ["txtvers=1", "tls=0", "host=evil", "path=/"]).records))
    #expect(found.services == first)
    // Another kind of service, a name outside of this service type, and an invalid port.
    var others = FoundServices(id: Self.id)
    let elsewhere = Self.labels(["den", "_ipp", "_tcp", "local"])
    others.hear(Self.message([Self.record(Self.labels(["_ipp", "_tcp", "local"]), 12, elsewhere)]))
    others.hear(Self.message([Self.record(Self.labels(Self.kind), 12, elsewhere)]))
    #expect(others.questions.count == 1)
    others.hear(Self.message(Said(name: "den", port: 0, texts: Self.good).records))
    #expect(others.services.isEmpty)
  }

  @Test func `announcement and discovery agree on the address`() {
    for (said, address) in [
      (ServiceAnnouncement(isEncrypted: true, host: "tv.example.org", port: 443, path: ""), "https://tv.example.org"),
      (ServiceAnnouncement(isEncrypted: false, host: "10.0.0.1", port: 8787, path: "/tv"), "http://10.0.0.1:8787/tv"),
      (
        ServiceAnnouncement(isEncrypted: true, host: "[2001:db8::1]", port: 8443, path: "/"),
        "https://[2001:db8::1]:8443"
      ),
    ] {
      #expect(ServiceAnnouncement(port: said.port, texts: said.texts) == said)
      #expect(said.address == address && (try? AbsoluteURL(parsing: address))?.description == address)
    }
  }

  /// A responder on loopback that answers a query with noise, a wrong id and the right message.
  @Test func `a search accepts only the answer with its own id`() throws {
    let (socket, port) = try Self.responder()
    defer { close(socket) }
    let den = Said(name: "Regent on den", port: 443, texts: Self.good)
    try DedicatedThread.start(named: "responder") {
      for _ in 0..<3 {
        var (bytes, peer) = ([UInt8](repeating: 0, count: 512), SocketAddress())
        let length = unsafe peer.fill { address, size in
          unsafe CInt(recvfrom(socket, &bytes, bytes.count, 0, address, size))
        }
        guard length > 12 else { return }
        let id = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        for answer in [Self.message(den.records, id: id &+ 1), [1, 2, 3], [], Self.message(den.records, id: id)] {
          _ = unsafe peer.withPointer { address, size in unsafe sendto(socket, answer, answer.count, 0, address, size) }
        }
      }
    }
    let found = try ServiceSearch.services(at: (0x7F00_0001, port))
    #expect(found.map(\.address.description) == ["https://tv.example.org"])
  }

  @Test func `a search without an answer finds no services`() throws {
    let (socket, port) = try Self.responder()
    defer { close(socket) }
    #expect(try ServiceSearch.services(at: (0x7F00_0001, port)).isEmpty)
  }

  // MARK: - Messages

  private struct Said {
    let name: String
    let port: UInt16
    let texts: [String]

    var records: [[UInt8]] {
      let name = labels([name] + kind)
      return [
        record(labels(kind), 12, name),
        record(name, 33, [0, 0, 0, 0, UInt8(port >> 8), UInt8(port & 255)] + labels(["den", "local"])),
        record(name, 16, texts.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }),
      ]
    }
  }

  private static func name(_ first: String) -> DNSName { DNSName(labels: ([first] + kind).map { Array($0.utf8) }) }

  private static func labels(_ labels: [String]) -> [UInt8] {
    labels.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } + [0]
  }

  private static func record(_ owner: [UInt8], _ kind: UInt8, _ data: [UInt8], place: UInt16 = 1) -> [UInt8] {
    owner + [
      0, kind, UInt8(place >> 8), UInt8(place & 255), 0, 0, 0, 10, UInt8(data.count >> 8), UInt8(data.count & 255),
    ]
      + data
  }

  private static func message(_ records: [[UInt8]], question: [UInt8] = [], id: UInt16 = id) -> [UInt8] {
    [UInt8(id >> 8), UInt8(id & 255), 0x84, 0, 0, question.isEmpty ? 0 : 1, 0, UInt8(records.count), 0, 0, 0, 0]
      + question + records.joined()
  }

  private static func responder() throws -> (socket: CInt, port: UInt16) {
    let number = try systemCall("open", on: "a socket") { socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0) }
    // A timeout of five seconds, so that a missing query does not block the test.
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let address = SocketAddress(ipv4: 0x7F00_0001, port: 0)
    try systemCall("bind", on: "a socket") { unsafe address.withPointer { unsafe bind(number, $0, $1) } }
    var own = SocketAddress()
    try systemCall("name", on: "a socket") { unsafe own.fill { unsafe getsockname(number, $0, $1) } }
    return (number, try #require(own.ipv4?.port))
  }
}
