// FuzzJSON: a value that the reader accepts is written and read again as the same value, in every style, and
// Foundation's reader accepts it, too. A document that is accepted is written and read again as the same document.

import Administration
import FoundationEssentials
import FuzzSupport
import RegentJSON

/// Accepts any document and ignores its contents.
private struct Anything: Decodable {
  init(from decoder: any Decoder) {}
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let value = try? JSONValue(reading: input) else { return 0 }
  for style in [JSONWriter.Style.compact, .pretty, JSONWriter.Style(isHTMLSafe: true)] {
    let written = value.bytes(style)
    guard let again = try? JSONValue(reading: written, limits: JSONLimits(bytes: .max)) else {
      broken("a written value can be read", String(decoding: written, as: UTF8.self))
    }
    promise("a written value is read as the same value", again == value)
    promise("a value is always written in the same way", again.bytes(style) == written)
  }
  let html = value.bytes(JSONWriter.Style(isHTMLSafe: true))
  promise("HTML-safe text has no \"<\"", !html.contains(UInt8(ascii: "<")))
  if (try? JSONDecoder().decode(Anything.self, from: Data(input))) == nil {
    broken("Foundation accepts an accepted value", value.description)
  }
  if let object = value.object {
    reread(SignInEntry.self, object)
    reread(Stats.self, object)
    reread(PassEntry.self, object)
    reread(AuditLine.self, object)
  }
  return 0
}

/// Reads documents with the coders of their members: identifiers, times, words, counts and lists.
private func reread<Document: AdminDocument & Equatable>(_: Document.Type, _ object: JSONObject) {
  guard let document = try? Document(object) else { return }
  guard let again = try? Document(document.object) else {
    broken("a written document can be read", document.object.description)
  }
  promise("a written document is read as the same document", again == document)
}
