import RegentEncodings
import RegentPairing
@testable import RegentPairingWire
import Testing

@Suite struct `Media tokens` {
  private let token = MediaToken(
    sessionGUID: "guid", requestor: "REF30", resource: "<rss>\r\n&</rss>",
    issued: Instant(milliseconds: 1_700_000_000_000), provider: "local", keyID: "key-1")
  private let signature = [UInt8](1...6)

  private var element: String { String(decoding: token.element, as: UTF8.self) }

  private func text(_ signature: String = "AQIDBAUG", close: String = "</signatureInfo>") -> String {
    "<signatureInfo>\(signature)\(close)\(element)"
  }

  @Test func `a media token has the documented element with times in milliseconds`() {
    #expect(
      element
        == "<shortAuthorizationToken><sessionGUID>guid</sessionGUID><requestorID>REF30</requestorID>"
        + "<resourceID>&lt;rss&gt;&#13;\n&amp;&lt;/rss&gt;</resourceID><ttl>420000</ttl>"
        + "<issueTime>1700000000000</issueTime><mvpdId>local</mvpdId><keyId>key-1</keyId></shortAuthorizationToken>"
    )
    #expect(token.expires == Instant(milliseconds: 1_700_000_420_000))
  }

  @Test func `a media token is base64 that begins as other vendors' tokens do`() throws {
    let serialized = token.serialized(signature: signature)
    #expect(serialized.hasPrefix("PHNpZ25hdHVyZUluZm8+"))
    #expect((try? Base64.decode(serialized)) == Array(text().utf8))
  }

  @Test func `a media token reads back from base64 and from its text`() throws {
    var proxied = token
    proxied.proxiedProvider = "small & far"
    for token in [token, proxied] {
      let serialized = token.serialized(signature: signature)
      let clear = String(decoding: try #require(try? Base64.decode(serialized)), as: UTF8.self)
      for form in [serialized, clear, serialized + "\n", clear + "\r\n"] {
        let received = try ReceivedMediaToken(reading: form)
        #expect(received.token == token)
        #expect(received.signature == signature)
        #expect(received.signedBytes == token.element)
      }
    }
  }

  @Test func `a media token may have the doubled opening tag that the documentation prints`() throws {
    let received = try ReceivedMediaToken(reading: text(close: "<signatureInfo>"))
    #expect(received.token == token && received.signature == signature)
  }

  @Test func `a media token of any other form is refused`() throws {
    let good = text()
    let bad = [
      "", "x", "PHNp", " " + good, good + " ", good + good, good + "<x></x>", element,
      text(""), text("AQIDBAU"), text("AQID BAUG"), text("AQIDBAUG<x>"),
      text(close: "</signatureinfo>"), text(close: ""), text(close: "</signatureInfo> "),
      good.replacing("<ttl>420000</ttl>", with: ""),
      good.replacing("<ttl>420000</ttl>", with: "<ttl>420000</ttl><ttl>1</ttl>"),
      good.replacing("420000", with: "-1"), good.replacing("420000", with: "1e3"),
      good.replacing("420000", with: "9999999999999999"), good.replacing("420000", with: ""),
      good.replacing("&amp;", with: "&"), good.replacing("&amp;", with: "&#x41;"),
      good.replacing("&lt;rss&gt;", with: "<rss>"), good.replacing("<ttl>", with: "<ttl a=\"b\">"),
      good.replacing("guid", with: "gu<!-- x -->id"), good.replacing("guid", with: "<![CDATA[x]]>"),
      good.replacing("</ttl>", with: "</ttl >"), good.replacing("</ttl>", with: "</tt1>"),
      good.replacing("<keyId>key-1</keyId>", with: ""),
      good.replacing("key-1", with: "key\0"), good.replacing("key-1", with: "key\r"),
      good.replacing("key-1", with: "key\u{FFFE}"), good.replacing("key-1", with: "key\u{FFFF}"),
      good.replacing(
        "<ttl>", with: (0..<33).map { "<\(named($0))></\(named($0))>" }.joined() + "<ttl>"),
      String(repeating: "A", count: ReceivedMediaToken.longest + 4),
    ]
    for form in bad {
      #expect(throws: MediaTokenError.self, "\(form.prefix(200))") {
        try ReceivedMediaToken(reading: form)
      }
      let encoded = Base64.encode(Array(form.utf8))
      #expect(throws: MediaTokenError.self) { try ReceivedMediaToken(reading: encoded) }
    }
    let stray = token.serialized(signature: signature)
    #expect(throws: MediaTokenError.self) {
      try ReceivedMediaToken(reading: stray.replacing("=", with: ""))
    }
  }

  @Test func `a media token with bytes that are not UTF-8 is refused`() throws {
    let element = token.element.map { $0 == UInt8(ascii: "g") ? 0xFF : $0 }
    let bytes = Array("<signatureInfo>AQIDBAUG</signatureInfo>".utf8) + element
    #expect(throws: MediaTokenError.malformed) {
      try ReceivedMediaToken(reading: Base64.encode(bytes))
    }
  }
}

/// A name for a child element that no version knows.
private func named(_ number: Int) -> String {
  "x" + String(repeating: "y", count: number)
}
