import RegentPairing
import RegentJSON
import Testing

@testable import PagePreview
@testable import PairingService

/// A sample page rendered in one language.
struct Shown: CustomTestStringConvertible {
  let name: String
  let language: PageLanguage
  let html: String

  var testDescription: String { "\(language.tag)/\(name)" }
}

private let shown: [Shown] = {
  guard let pages = try? realPages.get() else { return [] }
  return pages.languages.flatMap { language in
    samples.map { sample in
      let html = sample.render(pages, sample.frame(language))
      return Shown(
        name: sample.name, language: language, html: String(decoding: html, as: UTF8.self))
    }
  }
}()

@Suite("The phone pages")
struct PageTests {
  @Test func `the web folder compiles and has four complete languages`() throws {
    let pages = try realPages.get()
    #expect(pages.languages.map(\.tag) == ["en", "es", "it", "ko"])
    #expect(pages.unusedTexts.isEmpty, "texts that no page uses")
  }

  @Test func `every page can be rendered in every language`() throws {
    #expect(shown.count == samples.count * 4)
    for page in shown {
      #expect(page.html.hasPrefix("<!DOCTYPE html>\n<html lang=\"\(page.language.tag)\""))
      #expect(page.html.hasSuffix("</html>\n"), "\(page)")
    }
    // A page type missing from the list renders to nothing.
    let types = Set(PhonePages.pages.map { $0.template })
    #expect(types.count == PhonePages.pages.count)
  }

  @Test func `another provider is offered only when there is one`() throws {
    func offers(_ page: Shown) -> Bool { page.html.contains("class=\"aside\"") }
    for page in shown {
      switch page.name {
      case "sign-in", "approve", "approve-hostile": #expect(offers(page), "\(page)")
      case "sign-in-alone", "approve-guest": #expect(!offers(page), "\(page)")
      default: break
      }
    }
    let english = shown.filter { $0.language.tag == "en" }
    for (name, words) in [
      ("approve", "Use another provider or account"), ("approve-hostile", "Use another account"),
    ] {
      let page = try #require(english.first { $0.name == name })
      #expect(page.html.contains(">\(words)</button>"), "\(page)")
    }
  }

  @Test func `the operator's contact text is shown as escaped text`() throws {
    let pages = shown.filter { $0.name == "sign-in-contact" }
    #expect(pages.count == 4)
    for page in pages {
      #expect(
        page.html.contains("<bdi>0800 123456, &lt;b&gt;8&lt;/b&gt; to 18 o&#39;clock</bdi>"),
        "\(page.html)")
    }
    #expect(!shown.contains { $0.name == "sign-in" && $0.html.contains("0800") })
  }

  @Test func `no page promises a new code on a screen that waits for a key`() throws {
    // The screen asks for another code only after a key is pressed.
    for (language, promise) in [
      ("en", "will show a new code"), ("es", "mostrará un código nuevo"),
      ("it", "mostrerà un nuovo codice"), ("ko", "새 코드가 표시됩니다"),
    ] {
      let pages = shown.filter { $0.language.tag == language }
      #expect(!pages.isEmpty && pages.allSatisfy { !$0.html.contains(promise) }, "\(language)")
    }
  }

  @Test func `no page shows a text key or an unfilled placeholder`() throws {
    let english = try #require(realWeb.get().contents["locales/en.json"])
    let keys = try #require(JSONValue(reading: english).object).members.map(\.name)
      .filter { $0.contains(".") || $0.contains("-") }
    for page in shown {
      #expect(!page.html.contains("{") && !page.html.contains("}"), "\(page)")
      // Keys also occur in paths (/sign-in), so that only text between tags is checked.
      let words = Set(page.html.split { "<>".contains($0) }.flatMap { $0.split(separator: " ") })
      for key in keys where key.contains(".") {
        #expect(!words.contains(key[...]), "\(page): \(key)")
      }
    }
  }

  @Test func `every page differs between the languages`() {
    for name in samples.map(\.name) {
      let bodies = shown.filter { $0.name == name }.map {
        $0.html.split(separator: "<main").last ?? ""
      }
      #expect(Set(bodies).count == 4, "\(name)")
    }
  }

  @Test func `every form that changes something is a POST with a CSRF token, and only searches use GET`() {
    for page in shown {
      for form in pieces(of: page.html, from: "<form", to: "</form>") {
        if form.contains("method=\"get\"") {
          #expect(form.contains("role=\"search\""), "\(page): \(form)")
          #expect(!form.contains("csrf"))
        } else {
          #expect(form.contains("method=\"post\""), "\(page): \(form)")
          #expect(form.contains("<input type=\"hidden\" name=\"csrf\" value=\"3f9c1d5b7a\">"))
        }
      }
    }
  }

  @Test func `no page has anything that the content policy blocks, or links to other sites`() {
    // The one page that leaves the service links only to a URL that the requestor has registered.
    let wayOut = "href=\"https://www.example.com/done?a=1&amp;b=2\""
    for page in shown {
      var html = page.html.lowercased()
      if page.name.hasPrefix("leave-") { html = html.replacing(wayOut, with: "") }
      for bad in [
        "<style", " style=", "javascript:", "http://", "https://", "src=\"//", "<script>",
      ] {
        #expect(!html.contains(bad), "\(page): \(bad)")
      }
      #expect(pieces(of: page.html, from: "<script", to: "</script>").count == 1)
    }
  }

  @Test func `ids are unique, and labels and descriptions refer to existing ids`() {
    for page in shown {
      let ids = values(of: " id=", in: page.html)
      #expect(Set(ids).count == ids.count, "\(page)")
      let referred =
        values(of: " for=", in: page.html)
        + values(of: "aria-describedby=", in: page.html).flatMap { $0.split(separator: " ") }
        + values(of: "data-reveal=", in: page.html)
      for reference in referred { #expect(ids.contains(reference), "\(page): \(reference)") }
      let labels = Set(values(of: " for=", in: page.html))
      for field in pieces(of: page.html, from: "<input", to: ">")
      where !field.contains("type=\"hidden\"") && !field.contains("aria-hidden") {
        #expect(values(of: " id=", in: field).contains { labels.contains($0) }, "\(page): \(field)")
      }
    }
  }

  @Test func `a problem is shown beside its field and in the title`() {
    for page in shown where page.html.contains("class=\"problem\"") {
      #expect(page.html.contains("aria-invalid=\"true\""), "\(page)")
      #expect(page.html.contains("autofocus"), "\(page)")
      #expect(page.name.contains("-"))
    }
  }

  @Test func `approve and deny are forms of equal rank`() throws {
    let page = try #require(shown.first { $0.name == "approve" })
    let choices = try #require(
      pieces(of: page.html, from: "<div class=\"choices\">", to: "</div>").first)
    #expect(choices.components(of: "<form method=\"post\"") == 2)
    #expect(choices.contains("action=\"/D/BCDFGHJK/approve\""))
    #expect(choices.contains("action=\"/D/BCDFGHJK/deny\""))
    #expect(page.html.contains("BCDF-GHJK"))
  }

  @Test func `a hostile device name is shown as escaped text`() {
    for page in shown where page.name == "approve-hostile" || page.name == "screens" {
      #expect(!page.html.contains("<script>alert"))
      #expect(
        page.html.contains("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;gnp.&quot;&#39; onerror=x"))
      #expect(
        !page.html.unicodeScalars.contains { "\u{202E}\u{200B}\u{0}".unicodeScalars.contains($0) })
    }
  }

  @Test func `the approve page weighs at most 60 KB with everything it loads`() throws {
    let pages = try realPages.get()
    for page in shown where page.name == "approve" {
      let paths = values(of: "href=", in: page.html) + values(of: "src=", in: page.html)
      let weight = Set(paths).compactMap { pages.files.file(at: String($0))?.bytes.count }.reduce(
        0, +)
      #expect(page.html.utf8.count + weight <= 60_000, "\(page.html.utf8.count) + \(weight)")
      #expect(page.html.utf8.count <= 8_000)
    }
  }

  @Test func `the page warns of plain HTTP when the connection is not encrypted, and only then`() {
    for page in shown {
      let isPlain = page.name == "enter-code-plain-http" || page.name == "approve-hostile"
      #expect(page.html.contains("class=\"plain-http\"") == isPlain, "\(page)")
    }
  }

  @Test(arguments: [
    (NoticePage.Kind.expired, 410), (.unknownCode, 404), (.tooManyTries, 429), (.tooManyCodes, 429), (.busy, 503),
    (.denied, 200), (.failed, 500), (.formExpired, 403), (.held, 409),
  ])
  func `a notice page has the status that fits its kind`(kind: NoticePage.Kind, status: Int) {
    #expect(NoticePage(kind).status == status)
  }

  @Test func `a wrong password and an unknown user show the same problem`() {
    #expect(SignInPage.Problem.allCases == [.empty, .refused])
  }

  @Test(arguments: [
    ("", "empty"), (" - ", "empty"), ("BCDF", "wrong-length"), ("BCDFGHJKL", "wrong-length"),
    ("BCDFGHJA", "wrong-letters"), ("BCDF-GHJ1", "wrong-letters"),
  ])
  func `the code page says as precisely as possible what is wrong with a code`(
    text: String, problem: String
  ) {
    let error = #expect(throws: CodeInputError.self) { try RegistrationCode(typed: text) }
    #expect(error.map { EnterCodePage.Problem($0).rawValue } == problem)
  }
}

/// The parts of a text from one mark to the other, including the marks.
private func pieces(of text: String, from start: String, to end: String) -> [String] {
  var found: [String] = []
  var rest = text[...]
  while let open = rest.firstRange(of: start) {
    rest = rest[open.lowerBound...]
    guard let close = rest.firstRange(of: end) else { break }
    found.append(String(rest[..<close.upperBound]))
    rest = rest[close.upperBound...]
  }
  return found
}

/// The values of an attribute, without quotes.
private func values(of attribute: String, in text: String) -> [Substring] {
  guard text.contains("\(attribute)\"") else { return [] }
  return text.split(separator: "\(attribute)\"", omittingEmptySubsequences: false).dropFirst()
    .map { $0.prefix { $0 != "\"" } }
}

extension String {
  fileprivate func components(of mark: String) -> Int { split(separator: mark).count - 1 }
}
