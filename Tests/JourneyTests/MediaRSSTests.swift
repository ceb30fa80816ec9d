import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `MediaRSS resources` {
  private func read(_ text: String) throws -> RequestedResource {
    try RequestedResource(reading: try named(text))
  }

  @Test func `a plain name is taken as the resource`() throws {
    for name in ["ESPN", " x", "a<b>", "&amp;", "[rss]"] {
      let resource = try read(name)
      #expect(resource.name == name && resource.ratings.isEmpty)
    }
  }

  @Test func `a fragment after other text is refused, so that its rating is not lost`() throws {
    for before in ["x", "\u{A0}", "&#xFEFF;", "<!DOCTYPE x>"] {
      for tag in ["<rss version=\"2.0\">", "<RSS>"] {
        let id: ResourceID = try named(before + tag + "<channel><title>a</title></channel></rss>")
        #expect(throws: MediaRSSError.self) { try RequestedResource(reading: id) }
      }
    }
  }

  @Test func `the documented MediaRSS fragment is read with its title and ratings`() throws {
    let resource = try read(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/">
        <channel>
          <title><![CDATA[ESPN & more]]></title>
          <item>
            <title>CRICKET</title><guid>cricket-1</guid>
            <media:rating scheme="urn:v-chip"> TV-14 </media:rating>
            <media:content><media:rating>adult</media:rating></media:content>
          </item>
        </channel>
      </rss>
      """)
    #expect(resource.name == "ESPN & more")
    #expect(
      resource.ratings == [
        ParentalRating(scheme: .vchip, value: "TV-14"),
        ParentalRating(scheme: .simple, value: "adult"),
      ])
  }

  @Test func `a rating is recognised by its namespace, whatever its prefix`() throws {
    func ratings(_ inner: String) throws -> [String] {
      try read("<rss><channel><title>x</title>\(inner)</channel></rss>").ratings.map(\.value)
    }
    let space = "http://search.yahoo.com/mrss/"
    #expect(try ratings("<m:rating xmlns:m='\(space)'>R</m:rating>") == ["R"])
    #expect(try ratings("<rating xmlns='\(space)'>R</rating>") == ["R"])
    #expect(try ratings("<rating>R</rating>").isEmpty)
    #expect(try ratings("<m:rating xmlns:m='urn:x'>R</m:rating>").isEmpty)
  }

  @Test(arguments: [
    "<", "<rss>", "<rss/>", "<rss><channel/></rss>", "<rss><channel><title/></channel></rss>",
    "<rss><channel><title> </title></channel></rss>", "<feed><title>x</title></feed>",
    "<rss><channel><title>x</title><title>y</title></channel></rss>",
    "<rss><channel><title>x</title></channel><channel><title>y</title></channel></rss>",
    "<rss><channel><item><title>x</title></item></channel></rss>",
    "<rss><channel><title>x</title><media:rating>R</media:rating></channel></rss>",
    "<!DOCTYPE rss><rss><channel><title>x</title></channel></rss>",
    "<!DOCTYPE r [<!ENTITY e 'x'>]><rss><channel><title>&e;</title></channel></rss>",
    " <rss><channel><title>x</title></channel></rss>junk", "\n\t<b>",
  ])
  func `a malformed fragment is refused and not taken as a plain name`(text: String) {
    #expect(throws: MediaRSSError.self) { try read(text) }
  }
}
