// FuzzXML: an accepted document stays within the limits, and is written and read again as the same tree.

import FuzzSupport
import XML

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  let limits = XMLLimits(bytes: 4096, depth: 8, elements: 100, attributes: 8, name: 128)
  let root: XMLElement
  do {
    root = try XMLElement(reading: input, limits: limits)
  } catch {
    promise("an error is one line", !"\(error)".contains("\n"))
    return 0
  }
  promise("a document type is refused", !contains(input, "<!DOCTYPE"))
  promise("the depth is within the limit", depth(root) <= limits.depth)
  let written = write(root)
  do {
    let again = try XMLElement(reading: Array(written.utf8), limits: XMLLimits(bytes: .max))
    promise("a written document is read as the same document", again == root, written)
  } catch {
    broken("a written document can be read", written, "\(error)")
  }
  return 0
}

private func depth(_ element: XMLElement) -> Int {
  1 + (element.children.map(depth).max() ?? 0)
}

/// Whether the input contains `word` outside of comments and CDATA sections, where it would have no meaning.
private func contains(_ input: [UInt8], _ word: String) -> Bool {
  let text = String(decoding: input, as: UTF8.self)
  return !text.contains("<!--") && !text.contains("<![CDATA[") && text.contains(word)
}

private func write(_ element: XMLElement) -> String {
  var spaces = [element.name] + element.attributes.map(\.name)
  spaces.removeAll { $0.namespace == nil || $0.namespace == xml }
  func name(_ name: XMLName) -> String {
    if name.namespace == xml { return "xml:\(name.local)" }
    guard let index = spaces.firstIndex(where: { $0.namespace == name.namespace }) else {
      return name.local
    }
    return "p\(index):\(name.local)"
  }
  var text = "<\(name(element.name))"
  for (index, space) in spaces.enumerated() {
    text += " xmlns:p\(index)=\"\(escape(space.namespace ?? ""))\""
  }
  for attribute in element.attributes {
    text += " \(name(attribute.name))=\"\(escape(attribute.value))\""
  }
  text += ">"
  for node in element.nodes {
    switch node {
    case .element(let child): text += write(child)
    case .text(let part): text += escape(part)
    }
  }
  return text + "</\(name(element.name))>"
}

private let xml = "http://www.w3.org/XML/1998/namespace"

private func escape(_ text: String) -> String {
  text.unicodeScalars.reduce(into: "") { text, scalar in
    switch scalar {
    case "<", ">", "&", "\"", "\t", "\n", "\r": text += "&#\(scalar.value);"
    default: text.unicodeScalars.append(scalar)
    }
  }
}
