import RegentHTTPCodec
import Testing

@Suite struct AddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
    ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("0:0:0:0:0:0:0:0", "::"),
    ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
    ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ("::ffff:c000:201", "192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
    ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("00ab::0001", "ab::1"),
  ])
  func `an IP address is written in its canonical form`(text: String, canonical: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == canonical)
    #expect(IPAddress(canonical) == address)
  }

  @Test(arguments: [
    "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.04", "0x7f.0.0.1", "2130706433",
    "1.2.3.-4", "1.2.3.+4", " 1.2.3.4", "1.2.3.4 ", "1..3.4", "1.2.3.", ":", ":::", "1:::2",
    "1::2::3",
    "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7:8", "12345::", "g::", "fe80::1%eth0",
    "1.2.3.4::", "::1.2.3", "::1.2.3.4:5", ":1::", "1::2:", "[::1]", "::ffff:1.2.3.256",
    "1.2.3.4/32",
    "\u{661}.2.3.4",
  ])
  func `an invalid IP address is refused`(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: [
    ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
    ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("0.0.0.0/0", "203.0.113.9", true),
    ("0.0.0.0/0", "::1", false), ("::/0", "2001:db8::1", true), ("::/0", "10.0.0.1", false),
    ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false),
    ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::1", "::1", true),
    ("::ffff:10.0.0.0/104", "10.9.9.9", true), ("192.0.2.0/25", "192.0.2.127", true),
    ("192.0.2.0/25", "192.0.2.128", false), ("2001:db8::/33", "2001:db8:8000::", false),
  ])
  func `a network contains exactly its addresses`(network: String, address: String, inside: Bool) throws {
    let parsed = try IPNetwork(parsing: network)
    #expect(parsed.contains(try #require(IPAddress(address))) == inside)
  }

  @Test(arguments: [
    ("", IPNetworkError.notAnAddress("")), ("10.0.0.0/33", .badLength("10.0.0.0/33")),
    ("10.0.0.0/", .badLength("10.0.0.0/")), ("10.0.0.0/8/8", .badLength("10.0.0.0/8/8")),
    ("::/129", .badLength("::/129")), ("10.0.0.0/08", .badLength("10.0.0.0/08")),
    ("::ffff:10.0.0.0/8", .badLength("::ffff:10.0.0.0/8")),
    ("10.0.0.1/8", .hostBitsSet("10.0.0.1/8", network: "10.0.0.0/8")),
    ("2001:db8::1/64", .hostBitsSet("2001:db8::1/64", network: "2001:db8::/64")),
    ("localhost", .notAnAddress("localhost")), ("/8", .notAnAddress("/8")),
  ])
  func `an invalid network is refused with the reason`(text: String, expected: IPNetworkError) {
    #expect(throws: expected) { try IPNetwork(parsing: text) }
  }

  @Test func `each number of an IPv4 address is written in decimal`() {
    for number in 0...255 {
      for text in ["\(number).0.10.100", "9.\(number).99.\(255 - number)"] {
        #expect(IPAddress(text)?.description == text)
      }
    }
  }

  @Test func `an address is reduced to its network, and loopback addresses are recognised`() throws {
    let address = try #require(IPAddress("2001:db8:1:2:3:4:5:6"))
    #expect(address.network(leadingBits: 64).description == "2001:db8:1:2::")
    #expect(address.network(leadingBits: 0).description == "::")
    #expect(address.network(leadingBits: 128) == address)
    #expect(IPAddress("10.1.2.3")?.network(leadingBits: 0).description == "0.0.0.0")
    #expect(IPAddress("127.9.9.9")?.isLoopback == true)
    #expect(IPAddress("::1")?.isLoopback == true)
    #expect(IPAddress("128.0.0.1")?.isLoopback == false)
  }
}
