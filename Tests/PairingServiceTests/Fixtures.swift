import RegentPairing
import RegentPlatform
import TestSupport

@testable import PairingService

/// The `web` folder of this package.
let realWeb = Result { () throws in try WebFiles(readingFolder: packageFolder() + "/web") }
let realPages = Result { () throws in try PhonePages(realWeb.get()) }

/// A view with a field of every kind.
struct Everything: PhonePage {
  enum Kind: String, CaseIterable { case red, green }

  var words = ""
  var stranger = ""
  var flag = false
  var path: SafePath?
  var when: Instant?
  var left = 0
  var number = 0
  var kind = Kind.red
  var inner: Inner?
  var items: [Inner] = []

  static let template = "page.html"

  static let fields: [TemplateField<Everything>] = [
    .text("words") { $0.words },
    .foreign("stranger") { ForeignText($0.stranger) },
    .flag("flag") { $0.flag },
    .path("path") { $0.path },
    .moment("when") { $0.when },
    .duration("left") { $0.left },
    .count("number") { $0.number },
    .choice("kind") { $0.kind },
    .record("inner") { $0.inner },
    .list("items") { $0.items },
  ]
}

struct Inner: TemplateView {
  var name: String

  static let fields: [TemplateField<Inner>] = [.text("name") { $0.name }]
}

/// The texts that the code needs in every locale, and a few for the tests.
let smallEnglish = """
  "language.name": "English", "language.direction": "ltr",
  "time.now": "just now", "time.minutes-ago": {"one": "{count} minute ago", "other": "{count} minutes ago"},
  "time.hours-ago": {"one": "{count} hour ago", "other": "{count} hours ago"},
  "time.days-ago": {"one": "{count} day ago", "other": "{count} days ago"},
  "time.date": "{day} {month} {year}", "time.under-minute": "less than a minute",
  "time.minutes": {"one": "{count} minute", "other": "{count} minutes"},
  "month.1": "January", "month.2": "February", "month.3": "March", "month.4": "April", "month.5": "May",
  "month.6": "June", "month.7": "July", "month.8": "August", "month.9": "September", "month.10": "October",
  "month.11": "November", "month.12": "December",
  "hello": "Hello <you> & all", "greet": "Hello {name}!",
  "apples": {"one": "{count} apple", "other": "{count} apples"},
  "color.red.title": "Red", "color.green.title": "Green of {name}"
  """

/// A web folder with these templates; one of them is `page.html`.
func smallWeb(_ templates: [String: String], locales: [String: String] = [:]) -> WebFiles {
  var files = WebFiles([
    "locales/en.json": Array("{\(smallEnglish)}".utf8), "static/a.css": Array("b{}".utf8),
  ])
  for (name, text) in templates { files.put("templates/\(name)", Array(text.utf8)) }
  for (tag, text) in locales { files.put("locales/\(tag).json", Array(text.utf8)) }
  return files
}

/// Compiles `page.html` and renders it.
func rendered(
  _ templates: [String: String], _ view: Everything = Everything(), locales: [String: String] = [:],
  language: Int = 0, now: Instant = Instant(milliseconds: 0)
) throws -> String {
  let web = smallWeb(templates, locales: locales)
  let texts = try TextCatalog(web)
  var compiler = try TemplateCompiler(web, texts: texts, files: try StaticFiles(web))
  let template = try compiler.compile("page.html", records: [Everything.schema])
  let bytes = TemplateRenderer.render(
    template, records: [TemplateRecord(view)], texts: texts.languages[language], now: now)
  return String(decoding: bytes, as: UTF8.self)
}

func rendered(_ template: String, _ view: Everything = Everything()) throws -> String {
  try rendered(["page.html": template], view)
}

/// The reason why the template is refused, as `file:line: reason`; nil when it is accepted.
func refusal(_ template: String, _ others: [String: String] = [:]) -> String? {
  do {
    _ = try rendered(others.merging(["page.html": template]) { $1 })
    return nil
  } catch {
    return "\(error)"
  }
}
