// FuzzResources: the resource that an app asks for, a plain name or a Media RSS fragment. A text that could be a
// fragment is never accepted as a plain name, because its ratings would be ignored.

import FuzzSupport
import PairingService
import RegentPairing
import XML

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  let text = String(decoding: input, as: UTF8.self)
  if let pattern = ResourcePattern(text) {
    promise("a pattern is read again from its text", ResourcePattern(pattern.text) == pattern, text)
  }
  guard let id = ResourceID(text), let resource = try? RequestedResource(reading: id) else { return 0 }
  promise("the id stays as it was sent", resource.id == id && resource.id.text.utf8.elementsEqual(text.utf8), text)
  promise("a resource has a name", !resource.name.isEmpty, text)
  if resource.name.utf8.elementsEqual(text.utf8) {
    promise("a plain name has no ratings", resource.ratings.isEmpty, text)
    promise("a plain name has no element rss", !text.lowercased().contains("<rss"), text)
    promise("a plain name does not begin like XML", text.utf8.first { $0 > 0x20 } != UInt8(ascii: "<"), text)
    return 0
  }
  guard let root = try? XMLElement(reading: Array(text.utf8)) else { broken("a fragment is XML", text) }
  promise("a fragment is an rss element", root.name.local == "rss", text)
  var ratings = 0
  root.forEach { if $0.name.local == "rating", $0.name.namespace == "http://search.yahoo.com/mrss/" { ratings += 1 } }
  promise("every rating of a fragment counts", resource.ratings.count == ratings, text)
  return 0
}
