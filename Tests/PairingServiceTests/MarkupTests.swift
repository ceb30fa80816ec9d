import Testing

@testable import PairingService

/// Strings that have broken web pages elsewhere.
let hostileStrings = [
  "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
  "&#x3c;script&#x3e;", "javascript:alert(1)",
  "</title></textarea></style></script><svg/onload=alert(1)>",
  "\u{202E}gnp.exe", "a\u{0}b", "line\nbreak", "\u{1B}[31m", "\u{85}\u{9F}", "{{words}}", "{name}",
  "👨‍👩‍👧‍👦", String(repeating: "Ａ", count: 10_000), "--><b>", "`${alert(1)}`",
  "\u{FEFF}\u{2066}x\u{2069}",
]

@Suite("Placeholders in HTML templates")
struct MarkupTests {
  static let positions = [
    "<p>{{words}}</p>", "<p>{{stranger}}</p>", "<p title=\"{{words}}\">x</p>",
    "<p title='{{stranger}}'>x</p>", "<input value=\"{{words}}\">",
    "<input value=\"{{stranger}}\">",
    "<title>{{words}}</title>", "<title>{{stranger}}</title>", "<textarea>{{words}}</textarea>",
    "<p>{{t greet name=words}}</p>", "<p title=\"{{t greet name=stranger}}\">x</p>",
    "<p>{{#each items}}<b>{{name}}</b>{{/each}}</p>",
  ]

  @Test(arguments: hostileStrings, positions)
  func `hostile text stays text in every position`(hostile: String, template: String) throws {
    let marked = "L\(hostile)R"
    let view = Everything(words: marked, stranger: marked, items: [Inner(name: marked)])
    let harmless = Everything(words: "LR", stranger: "LR", items: [Inner(name: "LR")])
    let page = try rendered(template, view)
    // With any text, the page has exactly the tags and quotes of the template.
    for mark in ["<", ">", "\"", "'"] {
      let expected = try rendered(template, harmless).filter { "\($0)" == mark }.count
      #expect(page.filter { "\($0)" == mark }.count == expected, "\(mark) in \(page)")
    }
    let controls = page.unicodeScalars.filter {
      $0.properties.generalCategory == .control && $0 != "\n"
    }
    #expect(controls.isEmpty)
  }

  @Test(arguments: hostileStrings)
  func `escaped text reads back unchanged, except for control characters`(hostile: String) throws {
    var bytes: [UInt8] = []
    Escaping.append(hostile, to: &bytes)
    var text = String(decoding: bytes, as: UTF8.self)
    for (name, character) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"),
    ] {
      text = text.split(separator: name, omittingEmptySubsequences: false).joined(
        separator: character)
    }
    let expected = String(
      String.UnicodeScalarView(
        hostile.unicodeScalars.map {
          $0.properties.generalCategory == .control && $0 != "\n" ? "\u{FFFD}" : $0
        }))
    #expect(Array(text.utf8) == Array(expected.utf8))
  }

  @Test func `text from devices is wrapped in bdi where tags are allowed and in Unicode isolates elsewhere`() throws {
    let view = Everything(stranger: "שם")
    #expect(try rendered("<p>{{stranger}}</p>", view) == "<p><bdi>שם</bdi></p>")
    #expect(
      try rendered("<title>{{stranger}}</title>", view) == "<title>\u{2068}שם\u{2069}</title>")
    #expect(try rendered("<p title=\"{{stranger}}\">", view) == "<p title=\"\u{2068}שם\u{2069}\">")
    #expect(try rendered("<input value=\"{{stranger}}\">", view) == "<input value=\"שם\">")
  }

  @Test(arguments: [
    ("<p class={{words}}>", "quotes around the value of class"),
    ("<p class=a>", "quotes around the value of class"),
    ("<p {{words}}>", "in text or in a quoted attribute value"),
    ("<{{words}}>", "in text or in a quoted attribute value"),
    ("<p {{words}}=\"x\">", "in text or in a quoted attribute value"),
    ("<script>{{words}}</script>", "a placeholder may not be inside script"),
    ("<script>alert(1)</script>", "script may not be inside a page"),
    ("<style>p{}</style>", "style may not be in a page"),
    ("<p style=\"color:red\">", "the attribute style may not be in a page"),
    ("<p style='{{words}}'>", "the attribute style may not be in a page"),
    ("<p onclick=\"x()\">", "onclick may not be in a page"),
    ("<p ONCLICK='x()'>", "onclick may not be in a page"),
    ("<a href=\"{{words}}\">", "only a path may be in href"),
    ("<a href=\"{{stranger}}\">", "only a path may be in href"),
    ("<a HREF='{{words}}'>", "only a path may be in href"),
    ("<a href=\"/x/{{path}}\">", "one placeholder and nothing else"),
    ("<a href=\"{{path}}?x\">", "one placeholder and nothing else"),
    ("<a href=\"{{path}}{{path}}\">", "one placeholder and nothing else"),
    ("<a href=\"{{t hello}}\">", "a text is not an address"),
    ("<form action=\"https://elsewhere.example/\">", "action must begin with one /"),
    ("<a href=\"//elsewhere.example\">", "href must begin with one /"),
    ("<a href=\"javascript:x()\">", "href must begin with one /"),
    ("<a href=\"\">", "href must begin with one /"),
    ("<img src=\"data:image/png,x\">", "src must begin with one /"),
    ("<button formaction=\"http:x\">", "formaction must begin with one /"),
    ("<p title=\"{{asset a.css}}\">", "an asset may only be used in href or src"),
    ("<base href=\"/\">", "base may not be in a page"),
    ("<iframe src=\"/\">", "iframe may not be in a page"),
    ("<svg><path></svg>", "svg may not be in a page"),
    ("<meta http-equiv=\"refresh\" content=\"0\">", "the attribute http-equiv may not be in a page"),
    ("<!-- secret -->", "write comments as {{!"),
    ("a < b", "write a plain < as &lt;"),
    ("<p title=\"{{#if flag}}\"{{/if}}>", "branches end in different places"),
    ("<p>{{#if flag}}<b {{/if}}>", "branches end in different places"),
    ("{{#if flag}}<title>{{/if}}</title>", "branches end in different places"),
    ("{{#each items}}<p title=\"{{/each}}\">", "branches end in different places"),
    ("<p title=\"x", "the page ends inside a tag"),
    ("<title>x", "the page ends inside a tag"),
  ])
  func `a template that could let text become markup is refused at start`(template: String, reason: String) {
    #expect(refusal(template)?.contains(reason) == true, "\(refusal(template) ?? "accepted")")
  }

  @Test(arguments: [
    "<!DOCTYPE html><html lang=\"{{words}}\"><br/><hr />", "<input {{#if flag}}required {{/if}}>",
    "<p {{#if flag}}class=\"a\"{{/if}}>x</p>", "<a href=\"#x\">a</a><a href=\"/y?z=1\">b</a>",
    "<script src=\"{{asset a.css}}\" defer></script>", "<b>a</b>{{#if flag}}<i>b</i>{{/if}}",
    "<a href=\"{{#if flag}}/a{{else}}/a{{/if}}\">x</a>", "<p data-wait=\"{{path}}\">{{path}}</p>",
    "<title>a < b</title>", "<P TITLE='{{words}}'>x</P>",
  ])
  func `ordinary markup is accepted`(template: String) {
    #expect(refusal(template) == nil)
  }
}
