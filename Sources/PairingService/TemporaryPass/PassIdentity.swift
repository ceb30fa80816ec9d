internal import RegentEncodings
internal import RegentJSON

/// The viewer for whom a promotional pass is, as an app names them: usually by a hash of their mail address.
///
/// Apps write the same identity in several ways: `{"email":"X"}`, the documentation's `("email":"X")`, the base64 of
/// either in a header, and plain `X`. All must give the same text, because otherwise one person could use one pass for
/// each spelling.
package struct PassIdentity: Hashable, Sendable {
  /// The maximum length of an identity that an app sends, in bytes.
  package static let longest = 1024

  /// The identity in its normalized form.
  ///
  /// The service stores only its hash.
  package let text: String

  /// Reads the identity from the parameter `generic_data`, or from the input of an operator.
  package init?(_ given: String) {
    let trimmed = given.trimmedSpaces
    guard !trimmed.isEmpty, trimmed.utf8.count <= Self.longest else { return nil }
    let text = Self.members(of: trimmed)?.identity ?? trimmed
    let folded = text.trimmedSpaces.utf8.map(\.lowercasedASCII)
    guard !folded.isEmpty else { return nil }
    self.text = String(decoding: folded, as: UTF8.self)
  }

  /// Reads the identity from the header of the newer protocol: a JSON object in base64.
  package init?(header: String) {
    guard header.utf8.count <= Self.longest * 4 / 3 + 4,
      let bytes = try? Base64.decodeLeniently(header),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    self.init(text)
  }

  private static func members(of text: String) -> JSONObject? {
    var bytes = Array(text.utf8)
    if bytes.first == UInt8(ascii: "("), bytes.last == UInt8(ascii: ")") {
      bytes = [UInt8(ascii: "{")] + bytes[1..<(bytes.count - 1)] + [UInt8(ascii: "}")]
    }
    return (try? JSONValue(reading: bytes))?.object
  }
}

extension JSONObject {
  /// The identity in the JSON object: the hash of the mail address.
  ///
  /// Without one, it consists of all text members, sorted so that their order in the app's object does not matter.
  fileprivate var identity: String? {
    if let email = self["email"]?.string { return email }
    let parts = members.compactMap { member in
      member.value.string.map { "\(member.name)=\($0)" }
    }
    return parts.isEmpty ? nil : parts.sorted().joined(separator: "&")
  }
}

extension String {
  fileprivate var trimmedSpaces: String {
    let bytes = Array(utf8)
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
    let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var lowercasedASCII: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 0x20 : self
  }
}
