/// Follows the HTML of a template byte by byte and tells the compiler in which context each placeholder stands.
///
/// Refuses markup in which even an escaped value could do harm (scripts, styles, unquoted attribute values), and
/// markup that the content security policy would block.
struct MarkupScanner {
  /// The HTML context in which the scanner expects the next byte.
  enum State: Equatable {
    case text
    case tagOpen, tagName, insideTag, attributeName, beforeValue
    case value(quote: UInt8)
    case declaration
    /// The scanner is inside `script` or `style`, whose content must be empty.
    case nothing
  }

  /// The path of the public address, such as `/regent`; it is put before literal addresses in `href`, `src` and the
  /// like.
  private let base: [UInt8]
  private(set) var state = State.text
  /// The name of the element whose tag is open, or of the last tag.
  private(set) var element = ""
  private(set) var attribute = ""
  private var isEndTag = false
  /// The element's name while the scanner is inside `title` or `textarea`.
  ///
  /// There a browser decodes character references but sees no tags.
  private(set) var textOnly = ""
  /// The value of the open attribute so far, if it is an address to check; a placeholder counts as `\u{0}`.
  private var valueText: [UInt8] = []

  init(base: String = "") { self.base = Array(base.utf8) }

  /// How a value is inserted at a placeholder, depending on the HTML context.
  enum Slot: Equatable {
    /// The value is inserted as element content.
    ///
    /// The renderer may wrap it in an element such as `<bdi>`.
    case text
    /// The value is inserted into an attribute, `title` or `textarea`, which can hold only characters.
    case plain
    /// The value is inserted unchanged into the `value` of a form field, because the browser sends it back.
    case fieldValue
    /// The value is inserted as the whole value of an attribute that holds an address, such as `href`.
    case address
  }

  /// Returns the HTML context of a placeholder at the current position; throws the reason when no placeholder is
  /// allowed there.
  mutating func slot() throws(Refusal) -> Slot {
    switch state {
    case .text: return textOnly.isEmpty ? .text : .plain
    case .value:
      if MarkupScanner.addresses.contains(attribute) {
        guard valueText.isEmpty else {
          throw Refusal("an address must be one placeholder and nothing else")
        }
        valueText = [0]
        return .address
      }
      return attribute == "value" ? .fieldValue : .plain
    case .beforeValue: throw Refusal("put quotes around the value of \(attribute)")
    case .nothing: throw Refusal("a placeholder may not be inside \(element)")
    default: throw Refusal("a placeholder may only be in text or in a quoted attribute value")
    }
  }

  struct Refusal: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// Scans literal bytes of a template and returns the bytes to send: white space that contains a line break becomes a
  /// single character.
  ///
  /// `lines` is increased for each line break, so that the caller can say in which line markup was refused.
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

  /// Whether both branches of an `#if` end in the same HTML context.
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

  /// Whether the template may end here: outside tags, `title` and `textarea`.
  var isAtRest: Bool { state == .text && textOnly.isEmpty }

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
      guard isLetter(byte) else { throw Refusal("an attribute's name must begin with a letter") }
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
          throw Refusal("an address must be one placeholder and nothing else")
        }
        // Only addresses are checked as a whole, so the values of other attributes are not collected.
        if MarkupScanner.addresses.contains(attribute) { valueText.append(byte) }
      }
    case .declaration:
      if byte == UInt8(ascii: ">") { state = .text }
    case .nothing:
      guard byte == UInt8(ascii: "<"), rest.starts(with: Array("</\(element)".utf8)) else {
        throw Refusal("\(element) may not be inside a page: put its content into a file")
      }
      state = .tagOpen
      element = ""
      isEndTag = false
    }
  }

  private mutating func openedTag() throws(Refusal) {
    guard !MarkupScanner.forbiddenElements.contains(element) else {
      throw Refusal("\(element) may not be in a page: the content security policy blocks it")
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
      throw Refusal("\(attribute) may not be in a page: let a script file add the listener")
    }
    if MarkupScanner.forbiddenAttributes.contains(attribute) {
      throw Refusal("the attribute \(attribute) may not be in a page")
    }
  }

  /// Refuses an address written in a template that leads outside this service, so that no edit of a template can send
  /// viewers to another host.
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
