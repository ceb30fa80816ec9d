import RegentPairing
import Testing

@testable import PairingService

@Suite struct `Signs on the phone pages` {
  @Test(arguments: [NoticePage.Kind.denied, .reported])
  func `a page after a denial or a report shows no green tick`(kind: NoticePage.Kind) throws {
    let template = try #require(realWeb.get().contents["templates/notice.html"])
    #expect(String(decoding: template, as: UTF8.self).contains("{{asset sign-no.svg}}"))
    #expect(NoticePage(kind).saysNo && !NoticePage(kind).saysDone)
    #expect(NoticePage(.signedOut).saysDone)
  }

  @Test(arguments: [
    ("http://127.0.0.1:8787", false), ("http://localhost:8787", false), ("http://[::1]:8787", false),
    ("http://192.168.1.4:8787", true), ("http://tv.example.org", true), ("https://tv.example.org", false),
    ("http://127.0.0.1.example.org", true), ("http://localhost.example.org", true),
  ])
  func `a public URL counts as unencrypted when it is plain HTTP and not local`(url: String, isReadable: Bool) {
    #expect(ServiceOptions(publicURL: url).isReadableOnTheWay == isReadable)
  }
}
