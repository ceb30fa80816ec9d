internal import CExpat
internal import RegentEncodings

extension XMLElement {
  /// Parses a document and returns its root element.
  public init(reading document: [UInt8], limits: XMLLimits = XMLLimits()) throws(XMLError) {
    guard document.count <= min(limits.bytes, Int(Int32.max)) else {
      throw .tooLarge(what: "bytes", limit: limits.bytes)
    }
    // Expat follows a byte order mark even if another encoding is set, so only valid UTF-8 may reach it.
    guard !document.contains(0), String(validating: document, as: UTF8.self) != nil else {
      throw .notWellFormed(reason: "not UTF-8", line: 1, column: 1)
    }
    self = try XMLReading(limits).tree(of: document)
  }
}

/// The state of one parse, in which expat's callbacks build the tree.
///
/// The object exists for one call on one thread. Expat calls back only while `tree(of:)` runs.
@safe private final class XMLReading {
  /// The byte that expat puts between a namespace and a name.
  ///
  /// It cannot occur in XML.
  private static let separator: UInt8 = 1

  private let limits: XMLLimits
  private let parser: OpaquePointer?
  /// The elements that are not closed yet, outermost first.
  private var open: [XMLElement] = []
  private var root: XMLElement?
  private var elements = 0
  /// The combining marks of all text so far: the pieces of an element's text are joined later.
  private var marks = CombiningMarks()
  private var failure: XMLError?

  init(_ limits: XMLLimits) {
    self.limits = limits
    // Parse as UTF-8 whatever encoding the document declares, so that expat parses exactly the text that was checked.
    unsafe parser = XML_ParserCreateNS("UTF-8", XML_Char(truncatingIfNeeded: Self.separator))
  }

  deinit { unsafe XML_ParserFree(parser) }

  func tree(of document: [UInt8]) throws(XMLError) -> XMLElement {
    guard let parser = unsafe parser else { throw .tooLarge(what: "documents at once", limit: 0) }
    unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    unsafe listen(to: parser)
    let status = unsafe document.withUnsafeBytes { bytes in
      unsafe XML_Parse(
        parser, bytes.bindMemory(to: XML_Char.self).baseAddress, Int32(bytes.count), 1)
    }
    if let failure { throw failure }
    guard status == XML_STATUS_OK, let root, open.isEmpty else { throw unsafe problem(of: parser) }
    return root
  }

  private func listen(to parser: OpaquePointer) {
    unsafe XML_SetElementHandler(
      parser,
      { context, name, attributes in
        guard let name = unsafe name else { return }
        unsafe XMLReading.of(context)?.begin(name, attributes)
      },
      { context, _ in unsafe XMLReading.of(context)?.end() })
    unsafe XML_SetCharacterDataHandler(parser) { context, start, count in
      guard let start = unsafe start else { return }
      let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
      unsafe XMLReading.of(context)?.add(String(decoding: bytes, as: UTF8.self))
    }
    unsafe XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
      unsafe XMLReading.of(context)?.forbid("a document type")
    }
    unsafe XML_SetProcessingInstructionHandler(parser) { context, _, _ in
      unsafe XMLReading.of(context)?.forbid("a processing instruction")
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> XMLReading? {
    guard let context = unsafe context else { return nil }
    let reading = unsafe Unmanaged<XMLReading>.fromOpaque(context).takeUnretainedValue()
    // After XML_StopParser expat may still call back for the piece that it had begun to parse.
    return reading.failure == nil ? reading : nil
  }

  // MARK: - Expat callbacks

  private func begin(
    _ name: UnsafePointer<XML_Char>,
    _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) {
    elements += 1
    guard open.count < limits.depth else {
      return stop(.tooLarge(what: "elements within elements", limit: limits.depth))
    }
    guard elements <= limits.elements else {
      return stop(.tooLarge(what: "elements", limit: limits.elements))
    }
    var read: [XMLElement.Attribute] = []
    var position = 0
    while let attribute = unsafe attributes?[position], let value = unsafe attributes?[position + 1] {
      guard read.count < limits.attributes else {
        return stop(.tooLarge(what: "attributes", limit: limits.attributes))
      }
      guard let name = unsafe self.name(attribute) else { return }
      let text = unsafe String(cString: value)
      guard !text.hasTooManyMarks else { return stop(.tooManyMarks) }
      read.append(XMLElement.Attribute(name: name, value: text))
      position += 2
    }
    guard let name = unsafe self.name(name) else { return }
    open.append(XMLElement(name: name, attributes: read))
  }

  private func end() {
    guard let element = open.popLast() else { return }
    if open.isEmpty { root = element } else { open[open.count - 1].nodes.append(.element(element)) }
  }

  private func add(_ text: String) {
    guard let last = open.indices.last else { return }
    guard !marks.exceedLimit(after: text.utf8Span) else { return stop(.tooManyMarks) }
    // Expat reports text in pieces, some of one character. Taking the text out of the array while it grows avoids
    // copies.
    guard case .text(var whole)? = open[last].nodes.popLastText() else {
      return open[last].nodes.append(.text(text))
    }
    whole += text
    open[last].nodes.append(.text(whole))
  }

  private func forbid(_ what: String) {
    stop(.forbidden(what: what, line: unsafe cexpat_line(parser)))
  }

  private func stop(_ error: XMLError) {
    failure = error
    _ = unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
  }

  /// Splits a name from expat into namespace and local name.
  ///
  /// Returns nil and stops the parser if the name is too long.
  private func name(_ start: UnsafePointer<XML_Char>) -> XMLName? {
    let whole = unsafe String(cString: start)
    guard whole.utf8.count <= limits.name else {
      stop(.tooLarge(what: "bytes in a name", limit: limits.name))
      return nil
    }
    guard let end = whole.utf8.firstIndex(of: Self.separator) else { return XMLName(whole) }
    return XMLName(String(whole[whole.utf8.index(after: end)...]), in: String(whole[..<end]))
  }

  private func problem(of parser: OpaquePointer) -> XMLError {
    let words = unsafe XML_ErrorString(XML_GetErrorCode(parser))
    return .notWellFormed(
      reason: unsafe words.map { unsafe String(cString: $0) } ?? "unknown",
      line: unsafe cexpat_line(parser),
      column: unsafe cexpat_column(parser) + 1)
  }
}

extension [XMLElement.Node] {
  /// Removes and returns the last node if it is a text.
  fileprivate mutating func popLastText() -> XMLElement.Node? {
    guard case .text? = last else { return nil }
    return popLast()
  }
}
