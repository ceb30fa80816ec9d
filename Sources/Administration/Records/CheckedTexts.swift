import RegentHTTPCodec
import RegentJSON

// Checks texts that appear on pages, in redirects and in documents for devices. Client and service both read records
// with these functions, so the service also refuses such texts from other clients.

extension JSONObject {
  /// Reads a name that viewers see: one line without control or invisible characters.
  func displayName(_ name: String) throws(JSONShapeError) -> String? {
    guard let text = try optionalString(name) else { return nil }
    guard (1...200).contains(text.utf8.count), text.unicodeScalars.allSatisfy(\.isShown) else {
      throw JSONShapeError(
        name: name, expected: "1 to 200 bytes of text without invisible or control characters")
    }
    return text
  }

  /// Reads an optional list of texts.
  ///
  /// A list that is longer than an operator would write by hand is refused, because each use of the record would load
  /// it.
  private func shortList(_ name: String) throws(JSONShapeError) -> [String] {
    let texts = try optionalStrings(name) ?? []
    guard texts.count <= 1_000 else {
      throw JSONShapeError(name: name, expected: "at most 1000 texts")
    }
    return texts
  }

  /// Reads host names without scheme and path, in lower case, without duplicates.
  func hostNames(_ name: String) throws(JSONShapeError) -> [String] {
    var hosts: [String] = []
    for text in try shortList(name) {
      guard let host = HostName(parsing: text) else {
        throw JSONShapeError(name: name, expected: "host names such as tv.example.org")
      }
      hosts.appendOnce(host.description)
    }
    return hosts
  }

  /// Reads the addresses that a browser may be redirected to, without duplicates: web addresses, or addresses with an
  /// app's own scheme.
  func redirectAddresses(_ name: String) throws(JSONShapeError) -> [String] {
    var addresses: [String] = []
    for text in try shortList(name) {
      guard isRedirectAddress(text) else {
        throw JSONShapeError(
          name: name,
          expected: "addresses such as https://tv.example.org/done or my.app://done")
      }
      addresses.appendOnce(text)
    }
    return addresses
  }

  /// Reads an optional http or https address.
  func webAddress(_ name: String) throws(JSONShapeError) -> String? {
    guard let text = try optionalString(name) else { return nil }
    guard let url = try? AbsoluteURL(parsing: text), ["http", "https"].contains(url.scheme),
      text.utf8.count <= 2048
    else {
      throw JSONShapeError(
        name: name, expected: "a web address such as https://tv.example.org/logo.png")
    }
    return text
  }

  /// Reads a colour as `#RRGGBB` in upper case.
  func color(_ name: String) throws(JSONShapeError) -> String? {
    guard let text = try optionalString(name) else { return nil }
    let digits = text.utf8.dropFirst(text.hasPrefix("#") ? 1 : 0)
    guard digits.count == 6, digits.allSatisfy(\.isHexDigit) else {
      throw JSONShapeError(name: name, expected: "a colour as six hexadecimal digits: #0A7CFF")
    }
    return "#" + String(decoding: digits, as: UTF8.self).uppercased()
  }

  /// Reads an optional PEM text.
  ///
  /// The service parses the certificates in it.
  func certificate(_ name: String) throws(JSONShapeError) -> String? {
    guard let text = try optionalString(name) else { return nil }
    guard text.contains("-----BEGIN "), text.utf8.count <= 65_536, !text.contains("PRIVATE KEY")
    else {
      throw JSONShapeError(name: name, expected: "a certificate in PEM, without any private key")
    }
    return text
  }

  /// Reads texts of 1 to 200 bytes, without duplicates.
  func shortTexts(_ name: String) throws(JSONShapeError) -> [String] {
    var texts: [String] = []
    for text in try shortList(name) {
      guard (1...200).contains(text.utf8.count), text.unicodeScalars.allSatisfy(\.isShown) else {
        throw JSONShapeError(name: name, expected: "texts of 1 to 200 bytes")
      }
      texts.appendOnce(text)
    }
    return texts
  }
}

private func isRedirectAddress(_ text: String) -> Bool {
  guard text.utf8.count <= 2048 else { return false }
  if let url = try? AbsoluteURL(parsing: text) {
    return url.fragment == nil && !["javascript", "data", "file"].contains(url.scheme)
  }
  // An address with an app's own scheme may have no host: com.example.app:/done
  guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains("#"),
    let colon = text.firstIndex(of: ":")
  else { return false }
  let scheme = text[..<colon]
  return scheme.contains(".") && scheme.utf8.allSatisfy { $0.isHexDigit || $0.isSchemeLetter }
    && text[text.index(after: colon)...].hasPrefix("/")
}

extension [String] {
  /// Appends a text unless the array has it already.
  ///
  /// Texts are compared by their bytes, because Swift treats different Unicode forms as equal.
  fileprivate mutating func appendOnce(_ text: String) {
    guard !contains(where: { $0.utf8.elementsEqual(text.utf8) }) else { return }
    append(text)
  }
}

extension Unicode.Scalar {
  /// Whether the character is visible and does not change the text around it.
  fileprivate var isShown: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  fileprivate var isSchemeLetter: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"):
      true
    default: false
    }
  }
}
