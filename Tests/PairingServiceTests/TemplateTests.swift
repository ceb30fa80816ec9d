import RegentPairing
import Testing

@testable import PairingService

@Suite("Templates")
struct TemplateTests {
  @Test func `a page is its template with the placeholders filled`() throws {
    let view = Everything(
      words: "A", stranger: "B", path: SafePath(["x"]), left: 120, number: 3,
      inner: Inner(name: "C"))
    let page =
      "<p>{{words}} {{stranger}} {{number}} {{left}} {{inner.name}} <a href=\"{{path}}\">x</a></p>"
    #expect(
      try rendered(page, view) == "<p>A <bdi>B</bdi> 3 2 minutes C <a href=\"/x\">x</a></p>")
  }

  @Test func `branches, lists and records are rendered`() throws {
    let page = """
      {{#if flag}}yes{{else}}no{{/if}}{{#if !flag}}!{{/if}}\
      {{#each items}}[{{name}}{{words}}]{{/each}}{{#with inner}}({{name}}){{else}}none{{/with}}
      """
    #expect(try rendered(page, Everything()) == "no!none")
    let full = Everything(
      words: "w", flag: true, inner: Inner(name: "i"), items: [Inner(name: "1"), Inner(name: "2")])
    #expect(try rendered(page, full) == "yes[1w][2w](i)")
  }

  @Test(arguments: [
    ("words", Everything(words: "x"), Everything()),
    ("stranger", Everything(stranger: "x"), Everything(stranger: "\u{202E}\u{200B}")),
    ("flag", Everything(flag: true), Everything()),
    ("path", Everything(path: .root), Everything()),
    ("when", Everything(when: Instant(milliseconds: 0)), Everything()),
    ("left", Everything(left: 1), Everything(left: -1)),
    ("number", Everything(number: -1), Everything()),
    ("inner", Everything(inner: Inner(name: "")), Everything()),
    ("items", Everything(items: [Inner(name: "")]), Everything()),
  ])
  func `an empty field counts as false`(field: String, present: Everything, absent: Everything) throws {
    let page = "{{#if \(field)}}yes{{else}}no{{/if}}"
    #expect(try rendered(page, present) == "yes")
    #expect(try rendered(page, absent) == "no")
  }

  @Test func `a page fills the slots of its layout`() throws {
    let page = try rendered(
      [
        "page.html": "{{layout frame.html}}{{#block title}}T{{/block}}body {{words}}",
        "frame.html":
          "<title>{{slot title}}</title>{{slot aside}}<main>{{content}}</main>{{> part.html}}",
        "part.html": "<p>{{words}}</p>",
      ], Everything(words: "w"))
    #expect(page == "<title>T</title><main>body w</main><p>w</p>")
  }

  @Test func `a text is escaped, filled, pluralized and chosen`() throws {
    let page = """
      {{t hello}}|{{t greet name=stranger}}|{{t apples count=number}}|{{t color.[kind].title name=words}}
      """
    #expect(
      try rendered(page, Everything(words: "w", stranger: "<s>", number: 1))
        == "Hello &lt;you&gt; &amp; all|Hello <bdi>&lt;s&gt;</bdi>!|1 apple|Red")
    #expect(
      try rendered(page, Everything(words: "w", number: 7, kind: .green)).hasSuffix(
        "|7 apples|Green of w"))
  }

  @Test func `times are shown relative to now and machine-readable`() throws {
    let page = "<time datetime=\"{{iso when}}\">{{when}}</time>"
    let text = try rendered(
      ["page.html": page], Everything(when: Instant(milliseconds: 0)),
      now: Instant(milliseconds: 120_000))
    #expect(text == "<time datetime=\"1970-01-01T00:00:00Z\">2 minutes ago</time>")
  }

  @Test func `lines that hold only template tags leave no text behind`() throws {
    #expect(
      try rendered("<ul>\n  {{#if !flag}}\n  <li>\n    x</li>\n  {{/if}}\n</ul>\n")
        == "<ul>\n\n<li>\nx</li>\n\n</ul>\n")
    #expect(try rendered("a\n\n  {{! nothing }}\n  b") == "a\nb")
    #expect(try rendered("<textarea>a\n  b</textarea>") == "<textarea>a\n  b</textarea>")
  }

  @Test(arguments: [
    ("\n{{nmae}}", 2, "there is no field nmae"),
    ("{{inner.nmae}}", 1, "there is no field inner.nmae"),
    ("{{words.x}}", 1, "there is no field words.x"),
    ("\n\n{{t nope}}", 3, "there is no text nope"),
    ("{{t color.[words].title}}", 1, "words is no choice"),
    ("{{t greet}}", 1, "greet needs name=field"),
    ("{{t hello name=words}}", 1, "the text has no {name}"),
    ("{{t apples count=words}}", 1, "count must be a whole number"),
    ("{{t greet name=flag}}", 1, "cannot be shown in a text"),
    ("{{> gone.html}}", 1, "there is no template gone.html"),
    ("{{> page.html}}", 1, "includes itself"),
    ("<link href=\"{{asset gone.css}}\">", 1, "there is no static file gone.css"),
    ("{{#if flag}}", 1, "#if without /if"),
    ("{{#each items}}\n{{/if}}", 2, "/if is where /each for line 1 is expected"),
    ("{{/if}}", 1, "no /if to end"),
    ("{{else}}", 1, "no else to end"),
    ("{{#each flag}}{{/each}}", 1, "flag is no list"),
    ("{{#with flag}}{{/with}}", 1, "flag is no record"),
    ("{{iso words}}", 1, "words is no time"),
    ("{{flag}}", 1, "flag cannot be shown"),
    ("{{items}}", 1, "items cannot be shown"),
    ("{{words", 1, "{{ without }}"),
    ("{{}}", 1, "nothing between"),
    ("{{words words}}", 1, "not understood"),
    ("{{t greet name}}", 1, "write an argument as name=field"),
    ("{{#block a}}{{/block}}{{#block a}}{{/block}}", 1, "a second block a"),
  ])
  func `a mistake in a template is refused at start with its line`(template: String, line: Int, reason: String) {
    let message = refusal(template) ?? "accepted"
    #expect(message.hasPrefix("web/templates/page.html:\(line): "), "\(message)")
    #expect(message.contains(reason), "\(message)")
  }

  @Test func `a mistake in an included file names that file`() {
    let message = refusal("<p>{{> part.html}}</p>", ["part.html": "a\nb {{nmae}}"])
    #expect(message?.hasPrefix("web/templates/part.html:2: ") == true)
  }

  @Test func `a template is refused if its layout is missing or has no slot for its block`() {
    let unknown = refusal("{{layout f.html}}{{#block x}}{{/block}}", ["f.html": "{{content}}"])
    #expect(unknown?.contains("f.html has no slot x") == true)
    #expect(refusal("{{layout f.html}}")?.contains("there is no layout f.html") == true)
  }

  @Test func `a template that is not UTF-8 is refused`() {
    var web = smallWeb([:])
    web.put("templates/page.html", [0x61, 0xFF])
    #expect(throws: WebFileError.self) {
      let texts = try TextCatalog(web)
      _ = try TemplateCompiler(web, texts: texts, files: try StaticFiles(web))
    }
  }
}
