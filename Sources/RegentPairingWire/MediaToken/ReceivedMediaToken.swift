internal import RegentEncodings
import RegentPairing

/// A parsed media token.
///
/// Its contents are not trustworthy until the caller has checked the signature over ``signedBytes``.
public struct ReceivedMediaToken: Hashable, Sendable {
  /// The longest media token that is parsed, in bytes of base64.
  ///
  /// A token with the longest resource fits, even when the resource is escaped.
  public static let longest = 131_072

  public let token: MediaToken
  /// The bytes that the signature covers, as a slice of the decoded token.
  public let signedPart: ArraySlice<UInt8>
  public let signature: [UInt8]

  /// Parses a media token: the base64 that the protocol uses, or the decoded text that the device SDK returns.
  ///
  /// One deviation is accepted: a second opening `signatureInfo` tag in place of the closing one, as the protocol's
  /// documentation prints it. Nothing else may stand before, between or after the two elements, so that everything that
  /// is read is covered by the signature.
  public init(reading text: String) throws(MediaTokenError) {
    let letters = text.utf8.span
    var count = letters.count
    guard count <= Self.longest else { throw .malformed }
    // A token that was pasted or piped may end with line breaks.
    while count > 0, letters[count - 1] == 0x0A || letters[count - 1] == 0x0D { count -= 1 }
    let trimmed = letters.extracting(first: count)
    if count > 0, trimmed[0] == UInt8(ascii: "<") {
      try self.init(text: Array(text.utf8.prefix(count)))
    } else {
      guard let bytes = try? Base64.decode(trimmed) else { throw .malformed }
      try self.init(text: bytes)
    }
  }

  private init(text: [UInt8]) throws(MediaTokenError) {
    let bytes = text.span
    var place = 0
    guard bytes.steps(over: MediaTokenText.signatureOpen, at: &place) else { throw .malformed }
    let encoded = bytes.steps(upTo: UInt8(ascii: "<"), at: &place)
    guard
      bytes.steps(over: MediaTokenText.signatureClose, at: &place)
        || bytes.steps(over: MediaTokenText.signatureOpen, at: &place),
      let signature = try? Base64.decode(bytes.extracting(encoded)), !signature.isEmpty
    else { throw .malformed }
    self.signature = signature
    token = try MediaToken(element: bytes.extracting(droppingFirst: place))
    signedPart = text[place...]
  }

  public var signedBytes: [UInt8] { Array(signedPart) }
}

/// Why a text is not a media token.
public enum MediaTokenError: Error, Hashable, Sendable {
  /// The text does not have the documented form.
  case malformed
  /// The token's child element with this name is missing.
  case missing(String)
}

extension MediaToken {
  /// Parses the `shortAuthorizationToken` element.
  ///
  /// Its children must be flat and unique, and escaped as ``XMLText`` does it.
  fileprivate init(element: Span<UInt8>) throws(MediaTokenError) {
    var place = 0
    guard element.steps(over: MediaTokenText.open, at: &place) else { throw .malformed }
    var children = Children()
    while !element.steps(over: MediaTokenText.close, at: &place) {
      try children.take(element, &place)
    }
    guard place == element.count else { throw .malformed }
    let (lifetime, issued) = (
      try children.milliseconds(.lifetime), try children.milliseconds(.issued)
    )
    self.init(
      sessionGUID: try children.text(.sessionGUID), requestor: try children.text(.requestor),
      resource: try children.text(.resource), lifetime: .milliseconds(lifetime),
      issued: Instant(milliseconds: issued), provider: try children.text(.provider),
      proxiedProvider: children.known[.proxiedProvider], keyID: try children.text(.keyID))
  }
}

/// The child elements of the token that were parsed until now.
private struct Children {
  enum Name: Int, CaseIterable {
    case sessionGUID, requestor, resource, lifetime, issued, provider, proxiedProvider, keyID

    /// The names of the child elements, in the order of the cases of `Name`.
    static let written = [
      "sessionGUID", "requestorID", "resourceID", "ttl", "issueTime", "mvpdId", "proxyMvpdId",
      "keyId",
    ]
    static let tags = written.map { Array("\($0)>".utf8) }
  }

  /// One text for each child element of the token.
  ///
  /// A dictionary would take longer than the rest of the parsing.
  struct Texts {
    private var texts: [8 of String?] = .init(repeating: nil)

    subscript(name: Name) -> String? {
      get { texts[name.rawValue] }
      set { texts[name.rawValue] = newValue }
    }
  }

  var known = Texts()
  /// The name to try first: tokens usually list their children in one order, but any order is accepted.
  private var next = 0
  /// The names of unknown child elements.
  ///
  /// A later version may add some; the signature covers them, and this version ignores them.
  private var others: [String] = []
  /// The maximum number of unknown child elements.
  ///
  /// Comparing thousands of names with one another would take a second before the signature is checked.
  private static let mostOthers = 32

  /// Parses one child element `<name>text</name>`.
  mutating func take(_ element: Span<UInt8>, _ place: inout Int) throws(MediaTokenError) {
    guard element.steps(over: [UInt8(ascii: "<")], at: &place) else { throw .malformed }
    let start = place
    let name = name(element, &place)
    if name == nil {
      while place < element.count, element[place].isLetter { place += 1 }
      guard place > start, element.steps(over: [UInt8(ascii: ">")], at: &place) else {
        throw .malformed
      }
    }
    let tag = start..<place
    let range = element.steps(upTo: UInt8(ascii: "<"), at: &place)
    guard element.steps(over: MediaTokenText.end, at: &place),
      element.steps(over: tag, at: &place),
      let text = XMLText.unescape(element.extracting(range))
    else { throw .malformed }
    if let name {
      guard known[name] == nil else { throw .malformed }
      known[name] = text
    } else {
      let other = XMLText.unescape(element.extracting(start..<tag.upperBound - 1)) ?? ""
      guard others.count < Self.mostOthers, !others.contains(other) else { throw .malformed }
      others.append(other)
    }
  }

  /// Parses the rest of an opening tag if its name is known.
  private mutating func name(_ element: Span<UInt8>, _ place: inout Int) -> Name? {
    for turn in 0..<Name.tags.count {
      let number = (next + turn) % Name.tags.count
      guard element.steps(over: Name.tags[number], at: &place) else { continue }
      next = number + 1
      return Name(rawValue: number)
    }
    return nil
  }

  func text(_ name: Name) throws(MediaTokenError) -> String {
    guard let text = known[name] else { throw .missing(Name.written[name.rawValue]) }
    return text
  }

  func milliseconds(_ name: Name) throws(MediaTokenError) -> Int64 {
    let text = try text(name)
    guard let number = text.utf8.span.number else { throw .malformed }
    return number
  }
}

extension Span<UInt8> {
  /// Advances `place` past these bytes if they come next.
  fileprivate func steps(over bytes: [UInt8], at place: inout Int) -> Bool {
    guard bytes.count <= count - place else { return false }
    for offset in bytes.indices where self[place + offset] != bytes[offset] { return false }
    place += bytes.count
    return true
  }

  /// Advances `place` past a copy of the bytes in an earlier range, if the copy comes next.
  fileprivate func steps(over range: Range<Int>, at place: inout Int) -> Bool {
    guard range.count <= count - place else { return false }
    for offset in 0..<range.count where self[place + offset] != self[range.lowerBound + offset] {
      return false
    }
    place += range.count
    return true
  }

  /// Advances `place` to the next occurrence of a byte, or to the end.
  ///
  /// Returns the range that was passed.
  fileprivate func steps(upTo byte: UInt8, at place: inout Int) -> Range<Int> {
    let start = place
    while place < count, self[place] != byte { place += 1 }
    return start..<place
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}
