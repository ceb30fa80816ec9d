// FuzzJSON: what the reader accepts it writes and reads again as the same value, in every style, and Foundation's
// reader accepts it too; and what a document accepts it writes and reads again as the same document.

import Administration
import FoundationEssentials
import FuzzSupport
import RegentJSON

/// Takes any document without looking at it.
private struct Anything: Decodable {
  init(from decoder: any Decoder) {}
}

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let value = try? JSONValue(reading: input) else { return 0 }
  for style in [JSONWriter.Style.compact, .pretty, JSONWriter.Style(isHTMLSafe: true)] {
    let written = value.bytes(style)
    guard let again = try? JSONValue(reading: written, limits: JSONLimits(bytes: .max)) else {
      broken("what was written can be read", String(decoding: written, as: UTF8.self))
    }
    promise("what was written is the same", again == value)
    promise("writing is stable", again.bytes(style) == written)
  }
  let html = value.bytes(JSONWriter.Style(isHTMLSafe: true))
  promise("HTML cannot end in the text", !html.contains(UInt8(ascii: "<")))
  if (try? JSONDecoder().decode(Anything.self, from: Data(input))) == nil {
    broken("Foundation accepts it too", value.description)
  }
  if let object = value.object {
    reread(SignInEntry.self, object)
    reread(Stats.self, object)
    reread(PassEntry.self, object)
    reread(AuditLine.self, object)
  }
  return 0
}

/// Documents whose members are read by our own coders: identifiers, times, words, counts, lists.
private func reread<Document: AdminDocument & Equatable>(_: Document.Type, _ object: JSONObject) {
  guard let document = try? Document(object) else { return }
  guard let again = try? Document(document.object) else {
    broken("a document reads what it wrote", document.object.description)
  }
  promise("a document that was read again is the same", again == document)
}
