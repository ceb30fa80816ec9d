// FuzzJSON: what the reader accepts it writes and reads again as the same value, in every style, and Foundation's
// reader accepts it too.

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
  return 0
}
