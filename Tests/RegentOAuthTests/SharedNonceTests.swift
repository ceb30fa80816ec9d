import RegentCryptography
import RegentPairing
import Testing

@testable import RegentOAuth

@Suite struct `DPoP nonces shared by all nodes` {
  /// One node; each call gives its clock's seconds.
  private final class Node {
    private var nonces: SharedNonces
    private let start = Instant(milliseconds: 1_700_000_100_000)

    init(_ secret: [UInt8]) throws { nonces = SharedNonces(try HMACKey(.sha256, Secret(copying: secret))) }

    func current(_ seconds: Int) -> String? { nonces.current(at: start + .seconds(seconds)) }

    func takes(_ nonce: String, _ seconds: Int) -> Bool { nonces.isValid(nonce, at: start + .seconds(seconds)) }
  }

  private let secret = Random.bytes(32)

  @Test func `a nonce of one node is valid at another for the same time`() throws {
    let (one, other) = (try Node(secret), try Node(secret))
    // The node does not know which proofs were used before its start, so that it issues no nonce in its first period.
    #expect(one.current(0) == nil && other.current(-600) == nil)
    let nonce = try #require(one.current(300))
    // The other node's clock may be a minute behind.
    #expect(other.takes(nonce, 240))
    #expect(one.takes(nonce, 899) && other.takes(nonce, 899))
    #expect(!one.takes(nonce, 900) && !other.takes(nonce, 900) && !one.takes("", 900))
    let next = try #require(other.current(900))
    #expect(next != nonce && one.current(900) == next)
    let foreign = try Node(Random.bytes(32))
    #expect(foreign.current(0) == nil && !foreign.takes(nonce, 300))
    let early = try Node(secret)
    #expect(early.current(-600) == nil && !early.takes(nonce, 239))
  }

  @Test func `no nonce is valid in a period that the clock repeats or from before a restart`() throws {
    let node = try Node(secret)
    #expect(node.current(0) == nil)
    let nonce = try #require(node.current(300))
    // A restarted node has forgotten which proofs used the nonce.
    let started = try Node(secret)
    #expect(!started.takes(nonce, 320) && started.current(320) == nil)
    #expect(!started.takes(nonce, 620) && started.current(620) != nil)
    // Set back by a second, the nonce stays valid. Set back by an hour, only a period that is new to the node counts.
    let late = try #require(node.current(4500))
    #expect(node.current(4499) != nil && node.takes(late, 4499))
    #expect(node.current(901) == nil && !node.takes(nonce, 901))
    #expect(node.current(4500) == nil && !node.takes(late, 4500))
    let new = try #require(node.current(4800))
    #expect(node.takes(new, 4801) && !node.takes(late, 4801))
  }
}
