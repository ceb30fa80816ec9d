/// Follows the HTML of a template byte by byte, so that the compiler knows where each placeholder stands, and refuses
/// markup in which an escaped value could still do harm (scripts, styles, unquoted values) or that the content security
/// policy would block anyway.
struct MarkupScanner {
  /// Where the next byte stands.
  enum State: Equatable {
    case text
    case tagOpen, tagName, insideTag, attributeName, beforeValue
    case value(quote: UInt8)
    case declaration
    /// Inside `script` or `style`: nothing may stand there.
    case nothing
  }

  /// What the public address has before every path of ours; goes before the addresses that a template names.
  private let base: [UInt8]
  private(set) var state = State.text
  /// The element whose tag is open, or that was opened last.
  private(set) var element = ""
  private(set) var attribute = ""
  private var isEndTag = false
  /// `title` or `textarea`: character references count there, tags do not.
  private(set) var textOnly = ""
  /// What the open attribute value holds so far, to judge addresses; a placeholder counts as `\u{0}`.
  private var valueText: [UInt8] = []

  init(base: String = "") { self.base = Array(base.utf8) }

  /// Where a value may be put, and how it must look there.
  enum Slot: Equatable {
    /// Between tags: elements may be added around it.
    case text
    /// In an attribute, `title` or `textarea`: characters only.
    case plain
    /// The value of a form field: comes back as it is.
    case fieldValue
    /// The whole of an address.
    case address
  }

  /// Where a placeholder stands; throws the reason when none may.
  mutating func slot() throws(Refusal) -> Slot {
    switch state {
    case .text: return textOnly.isEmpty ? .text : .plain
    case .value:
      if MarkupScanner.addresses.contains(attribute) {
        guard valueText.isEmpty else {
          throw Refusal("an address is one placeholder and nothing else")
        }
        valueText = [0]
        return .address
      }
      return attribute == "value" ? .fieldValue : .plain
    case .beforeValue: throw Refusal("put quotes around the value of \(attribute)")
    case .nothing: throw Refusal("no placeholder inside \(element)")
    default: throw Refusal("a placeholder may stand in text and in quoted attribute values only")
    }
  }

  struct Refusal: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// Goes over literal bytes and returns what to send: the same, with runs of white space that hold a line break
  /// reduced to one character.
  ///
  /// - Parameters:
  ///   - bytes: the literal text.
  ///   - lines: is increased for each line that was gone over, so that the caller can say where a refusal happened.
  /// - Returns: what to send.
  /// - Throws: `Refusal` with the reason.
  mutating func scan(_ bytes: [UInt8], lines: inout Int) throws(Refusal) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var at = 0
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\n") { lines += 1 }
      if isSpace(byte), collapses {
        var end = at + 1
        var breaks = byte == UInt8(ascii: "\n")
        while end < bytes.count, isSpace(bytes[end]) {
          if bytes[end] == UInt8(ascii: "\n") {
            breaks = true
            lines += 1
          }
          end += 1
        }
        try step(byte, rest: bytes[at...])
        if breaks {
          out.append(state == .text ? UInt8(ascii: "\n") : UInt8(ascii: " "))
        } else {
          out += bytes[at..<end]
        }
        at = end
        continue
      }
      if byte == UInt8(ascii: "/"), beginsAddress { out += base }
      try step(byte, rest: bytes[at...])
      out.append(byte)
      at += 1
    }
    return out
  }

  /// Whether two ways through a branch end in the same place.
  func agrees(with other: MarkupScanner) -> Bool {
    guard state == other.state, textOnly == other.textOnly else { return false }
    switch state {
    case .text, .declaration: return true
    case .value:
      return attribute == other.attribute && valueText == other.valueText
        && element == other.element
    case .beforeValue, .attributeName:
      return attribute == other.attribute && element == other.element
    default: return element == other.element && isEndTag == other.isEndTag
    }
  }

  /// The end of a page or of a block that is included elsewhere.
  var isAtRest: Bool { state == .text && textOnly.isEmpty }

  /// Whether the next byte is the first one of an address.
  private var beginsAddress: Bool {
    guard case .value = state else { return false }
    return valueText.isEmpty && MarkupScanner.addresses.contains(attribute)
  }

  private var collapses: Bool {
    switch state {
    case .text: textOnly.isEmpty
    case .insideTag, .tagName, .attributeName: true
    default: false
    }
  }

  private mutating func step(_ byte: UInt8, rest: ArraySlice<UInt8>) throws(Refusal) {
    switch state {
    case .text:
      guard byte == UInt8(ascii: "<") else { return }
      if !textOnly.isEmpty {
        guard rest.starts(with: Array("</\(textOnly)".utf8)) else { return }
      }
      state = .tagOpen
      element = ""
      isEndTag = false
    case .tagOpen:
      if byte == UInt8(ascii: "/"), !isEndTag {
        isEndTag = true
      } else if byte == UInt8(ascii: "!") {
        guard !rest.starts(with: Array("!--".utf8)) else {
          throw Refusal("write comments as {{! … }}: they would be sent to every phone")
        }
        state = .declaration
      } else if isLetter(byte) {
        element.append(lower(byte))
        state = .tagName
      } else {
        throw Refusal("write a plain < as &lt;")
      }
    case .tagName:
      if isSpace(byte) || byte == UInt8(ascii: "/") {
        try openedTag()
        state = .insideTag
      } else if byte == UInt8(ascii: ">") {
        try openedTag()
        closeTag()
      } else {
        element.append(lower(byte))
      }
    case .insideTag:
      if isSpace(byte) || byte == UInt8(ascii: "/") { return }
      if byte == UInt8(ascii: ">") { return closeTag() }
      guard isLetter(byte) else { throw Refusal("an attribute cannot begin like this") }
      attribute = String(lower(byte))
      state = .attributeName
    case .attributeName:
      if byte == UInt8(ascii: "=") {
        try refuseAttribute()
        state = .beforeValue
      } else if isSpace(byte) {
        try refuseAttribute()
        state = .insideTag
      } else if byte == UInt8(ascii: ">") {
        try refuseAttribute()
        closeTag()
      } else {
        attribute.append(lower(byte))
      }
    case .beforeValue:
      guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else {
        throw Refusal("put quotes around the value of \(attribute)")
      }
      valueText = []
      state = .value(quote: byte)
    case .value(let quote):
      if byte == quote {
        try checkAddress()
        valueText = []
        state = .insideTag
      } else {
        guard valueText != [0] else {
          throw Refusal("an address is one placeholder and nothing else")
        }
        // Only addresses are judged as a whole; the rest need not be kept.
        if MarkupScanner.addresses.contains(attribute) { valueText.append(byte) }
      }
    case .declaration:
      if byte == UInt8(ascii: ">") { state = .text }
    case .nothing:
      guard byte == UInt8(ascii: "<"), rest.starts(with: Array("</\(element)".utf8)) else {
        throw Refusal("no \(element) inside a page: put it into a file of its own")
      }
      state = .tagOpen
      element = ""
      isEndTag = false
    }
  }

  private mutating func openedTag() throws(Refusal) {
    guard !MarkupScanner.forbiddenElements.contains(element) else {
      throw Refusal("no \(element) element: the content security policy blocks it")
    }
  }

  private mutating func closeTag() {
    state = .text
    if isEndTag {
      if element == textOnly { textOnly = "" }
    } else if element == "title" || element == "textarea" {
      textOnly = element
    } else if element == "script" || element == "style" {
      state = .nothing
    }
  }

  private func refuseAttribute() throws(Refusal) {
    if attribute.hasPrefix("on") {
      throw Refusal("no \(attribute): scripts listen from their file")
    }
    if MarkupScanner.forbiddenAttributes.contains(attribute) {
      throw Refusal("no \(attribute) attribute")
    }
  }

  /// Literal addresses stay on this service, whatever a later edit of a template says.
  private func checkAddress() throws(Refusal) {
    guard MarkupScanner.addresses.contains(attribute), valueText != [0] else { return }
    let isOwn =
      valueText.first == UInt8(ascii: "#")
      || (valueText.first == UInt8(ascii: "/") && valueText.dropFirst().first != UInt8(ascii: "/")
        && !valueText.contains(UInt8(ascii: "\\")))
    guard isOwn else { throw Refusal("\(attribute) must begin with one / or with #") }
  }

  private static let forbiddenElements: Set<String> = [
    "base", "iframe", "object", "embed", "frame", "frameset", "applet", "svg", "math", "noscript",
    "style", "template", "xmp", "plaintext", "noembed", "noframes",
  ]
  private static let forbiddenAttributes: Set<String> = ["style", "srcdoc", "http-equiv", "srcset"]
  private static let addresses: Set<String> = [
    "href", "src", "action", "formaction", "poster", "cite", "data", "manifest", "ping",
    "background", "longdesc", "usemap", "imagesrcset", "profile", "archive", "codebase",
  ]
}

private func isSpace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D || byte == 0x0C
}

private func isLetter(_ byte: UInt8) -> Bool {
  (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
}

private func lower(_ byte: UInt8) -> Character {
  Character(Unicode.Scalar(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte))
}
