import Glibc
import RegentPlatform
import TestSupport
import Testing

@testable import RegentHTTPClient

@Suite struct `A name under .local` {
  @Test func `a name under .local is looked up on the network, and only answers for that name count`() throws {
    let answers: [@Sendable (UInt16) -> [UInt8]] = [
      { Self.message($0 &+ 1, "den.local", [10, 0, 0, 66]) }, { _ in [1, 2, 3] }, { _ in [] },
      { Self.message($0, "other.local", [10, 0, 0, 66]) }, { Self.message($0, "den.local", [10, 0, 0]) },
      { Self.message($0, "den.local", [127, 0, 0, 1]) }, { Self.message($0, "den.local", [224, 0, 0, 1]) },
      { Array(Self.message($0, "den.local", [10, 0, 0, 66]).dropLast()) },
      { Self.message($0, "DEN.local", [192, 168, 7, 1]) },
    ]
    let found = try Self.lookUp("den.local", answers)
    #expect(found.map(\.numericHost) == ["192.168.7.1"] && found.first?.ipv4?.port == 8787)
  }

  @Test func `has IPv6 addresses too, but no link-local one, and no more than eight`() throws {
    let own: [UInt8] = [0xFD] + [UInt8](repeating: 0, count: 14) + [1]
    let found = try Self.lookUp("den.local", [{ Self.message($0, "den.local", own) }])
    #expect(found.map(\.numericHost) == ["fd00::1"])
    for other in [[0xFE, 0x80], [0xFF, 2], [0, 0]] as [[UInt8]] {
      #expect(LocalNames.usable(other + [UInt8](repeating: 1, count: 14), 80) == nil)
    }
    let many = (0..<20).map { [10, 0, 0, UInt8($0 + 1)] as [UInt8] }
    let limited = try Self.lookUp("den.local", [{ Self.message($0, "den.local", many) }])
    #expect(limited.count == LocalNames.mostAddresses)
  }

  @Test func `a name is under .local if a label precedes it, in upper or lower case`() {
    for (name, isLocal) in [
      ("den.local", true), ("a.den.LOCAL", true), ("local", false), ("den.local.example", false), ("denlocal", false),
      (String(repeating: "a", count: 64) + ".local", false), (String(repeating: "a.", count: 130) + "local", false),
      ("", false),
    ] {
      #expect(LocalNames.contains(name) == isLocal, "\(name)")
    }
  }

  /// Looks a name up at a responder on loopback that answers the first query with these datagrams.
  private static func lookUp(_ name: String, _ answers: [@Sendable (UInt16) -> [UInt8]]) throws -> [SocketAddress] {
    let number = try systemCall("open", on: "a socket") { socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0) }
    let descriptor = FileDescriptor(owning: number)
    let address = SocketAddress(ipv4: 0x7F00_0001, port: 0)
    try systemCall("bind", on: "a socket") { unsafe address.withPointer { unsafe bind(number, $0, $1) } }
    var own = SocketAddress()
    try systemCall("name", on: "a socket") { unsafe own.fill { unsafe getsockname(number, $0, $1) } }
    let port = try #require(own.ipv4?.port)
    try DedicatedThread.start(named: "responder") {
      var (bytes, peer) = ([UInt8](repeating: 0, count: 512), SocketAddress())
      let length = unsafe peer.fill { unsafe CInt(recvfrom(number, &bytes, bytes.count, 0, $0, $1)) }
      guard length > 12 else { return }
      let id = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
      for answer in answers.map({ $0(id) }) {
        _ = unsafe peer.withPointer { unsafe sendto(number, answer, answer.count, 0, $0, $1) }
      }
    }
    let found = LocalNames.addresses(of: name, port: 8787, at: (0x7F00_0001, port))
    _ = consume descriptor
    return found
  }

  private static func message(_ id: UInt16, _ name: String, _ address: [UInt8]) -> [UInt8] {
    message(id, name, [address])
  }

  private static func message(_ id: UInt16, _ name: String, _ addresses: [[UInt8]]) -> [UInt8] {
    var records: [UInt8] = []
    for address in addresses {
      let kind: UInt8 = address.count > 4 ? 28 : 1
      records += DNSName(name).bytes + [0, kind, 0x80, 1, 0, 0, 0, 10, 0, UInt8(address.count)] + address
    }
    let head: [UInt8] = [UInt8(id >> 8), UInt8(id & 255), 0x84, 0, 0, 0, 0, UInt8(addresses.count), 0, 0, 0, 0]
    return head + records
  }
}
