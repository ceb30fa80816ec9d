import RegentJSON

/// Writes a document as one JSON object.
struct JSONSink: DocumentSink {
  static let format = WireFormat.json
  private var writer = JSONWriter()

  var bytes: [UInt8] { writer.bytes }

  mutating func write(_ document: some WireDocument) {
    writer.object { inner in Self.fill(&inner) { document.write(to: &$0) } }
  }

  mutating func text(_ name: String, _ value: String) { writer.member(name, value) }
  mutating func number(_ name: String, _ value: Int64) { writer.member(name, value) }
  mutating func flag(_ name: String, _ value: Bool) { writer.member(name, value) }
  mutating func null(_ name: String) { writer.null(name) }

  mutating func object(_ name: String, _ members: (inout JSONSink) -> Void) {
    writer.object(name) { Self.fill(&$0, members) }
  }

  mutating func texts(_ name: String, item: String, _ values: [String]) {
    writer.array(name) { for value in values { $0.value(value) } }
  }

  mutating func objects<Element>(
    _ name: String, item: String, _ elements: [Element],
    _ members: (inout JSONSink, Element) -> Void
  ) {
    writer.array(name) { list in
      for element in elements {
        list.object { inner in Self.fill(&inner) { members(&$0, element) } }
      }
    }
  }

  /// Fills a container that the JSON writer has opened.
  ///
  /// The JSON writer is moved between the two by swapping, because a copy would duplicate its buffer.
  private static func fill(_ inner: inout JSONWriter, _ body: (inout JSONSink) -> Void) {
    var sink = JSONSink()
    swap(&sink.writer, &inner)
    body(&sink)
    swap(&sink.writer, &inner)
  }
}
