/// Writes a document as XML 1.0.
struct XMLSink: DocumentSink {
  static let format = WireFormat.xml
  private(set) var bytes: [UInt8] = []

  mutating func write<Document: WireDocument>(_ document: Document) {
    bytes.reserveCapacity(512)
    append(#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#)
    let root = Document.root
    append("<\(root.name)")
    if let declaration = root.declaration { append(" " + declaration) }
    append(">")
    document.write(to: &self)
    append("</\(root.name)>")
  }

  mutating func text(_ name: String, _ value: String) {
    element(name) { XMLText.escape(value, into: &$0.bytes) }
  }

  mutating func number(_ name: String, _ value: Int64) {
    element(name) { $0.append(String(value)) }
  }
  mutating func flag(_ name: String, _ value: Bool) { element(name) { $0.append(String(value)) } }
  mutating func null(_ name: String) {}

  mutating func object(_ name: String, _ members: (inout XMLSink) -> Void) {
    element(name, members)
  }

  mutating func texts(_ name: String, item: String, _ values: [String]) {
    element(name) { for value in values { $0.text(item, value) } }
  }

  mutating func objects<Element>(
    _ name: String, item: String, _ elements: [Element],
    _ members: (inout XMLSink, Element) -> Void
  ) {
    element(name) { list in
      for element in elements { list.element(item) { members(&$0, element) } }
    }
  }

  private mutating func element(_ name: String, _ content: (inout XMLSink) -> Void) {
    append("<")
    append(name)
    append(">")
    content(&self)
    append("</")
    append(name)
    append(">")
  }

  private mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }
}
