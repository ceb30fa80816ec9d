import Pairing

/// A media token as it was received: true only once the signature has been checked over ``signedBytes``.
public struct ReceivedMediaToken: Hashable, Sendable {
  /// The longest token that is looked at, in bytes of base64: the longest resource, escaped, fits.
  public static let longest = 131_072

  /// What it says.
  public let token: MediaToken
  /// The bytes that the signature covers.
  public let signedBytes: [UInt8]
  /// The signature.
  public let signature: [UInt8]

  /// Reads a token: the base64 of the protocol, or the text itself, as the device SDK hands it out.
  ///
  /// The one liberty is the doubled opening tag, which the documentation prints. Everything else has one form: nothing
  /// before, between or after the two elements, so that what was verified is what is looked at.
  public init(reading text: String) throws(MediaTokenError) {
    guard text.utf8.count <= Self.longest else { throw .malformed }
    let trimmed = text.trimmingLineEnds
    if trimmed.utf8.first == UInt8(ascii: "<") {
      try self.init(bytes: Array(trimmed.utf8))
    } else {
      guard let bytes = Base64.bytes(strict: trimmed) else { throw .malformed }
      try self.init(bytes: bytes)
    }
  }

  private init(bytes: [UInt8]) throws(MediaTokenError) {
    var rest = bytes[...]
    guard rest.takePrefix(MediaTokenText.signatureOpen) else { throw .malformed }
    let encoded = rest.prefix { $0 != UInt8(ascii: "<") }
    rest = rest.dropFirst(encoded.count)
    guard
      rest.takePrefix(MediaTokenText.signatureClose)
        || rest.takePrefix(MediaTokenText.signatureOpen)
    else { throw .malformed }
    guard let signature = Base64.bytes(strict: String(decoding: encoded, as: UTF8.self)),
      !signature.isEmpty
    else { throw .malformed }
    self.signature = signature
    signedBytes = Array(rest)
    token = try MediaToken(element: signedBytes)
  }
}

/// Why text is no media token.
public enum MediaTokenError: Error, Hashable, Sendable {
  /// Not of the documented form.
  case malformed
  /// A child is not there.
  case missing(String)
}

extension MediaToken {
  /// Reads the element: flat children, each once, texts as ``XMLText`` writes them.
  fileprivate init(element: [UInt8]) throws(MediaTokenError) {
    var rest = element[...]
    guard rest.takePrefix(MediaTokenText.open) else { throw .malformed }
    var values: [String: String] = [:]
    while !rest.takePrefix(MediaTokenText.close) {
      guard let (name, value) = rest.takeChild(), values.updateValue(value, forKey: name) == nil
      else { throw .malformed }
    }
    guard rest.isEmpty else { throw .malformed }
    func value(_ name: String) throws(MediaTokenError) -> String {
      guard let value = values[name] else { throw .missing(name) }
      return value
    }
    func milliseconds(_ name: String) throws(MediaTokenError) -> Int64 {
      let text = try value(name)
      guard text.utf8.count <= 15, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int64(text)
      else { throw .malformed }
      return number
    }
    self.init(
      sessionGUID: try value("sessionGUID"), requestor: try value("requestorID"),
      resource: try value("resourceID"), lifetime: .milliseconds(try milliseconds("ttl")),
      issued: Instant(milliseconds: try milliseconds("issueTime")), provider: try value("mvpdId"),
      proxiedProvider: values["proxyMvpdId"], keyID: try value("keyId"))
  }
}

extension ArraySlice<UInt8> {
  /// Steps over a prefix, if it is there.
  fileprivate mutating func takePrefix(_ prefix: [UInt8]) -> Bool {
    guard starts(with: prefix) else { return false }
    self = dropFirst(prefix.count)
    return true
  }

  /// Steps over `<name>text</name>`.
  fileprivate mutating func takeChild() -> (name: String, value: String)? {
    guard takePrefix([UInt8(ascii: "<")]) else { return nil }
    let name = prefix { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte != UInt8(ascii: ">")
    }
    guard !name.isEmpty else { return nil }
    self = dropFirst(name.count)
    guard takePrefix([UInt8(ascii: ">")]) else { return nil }
    let text = prefix { $0 != UInt8(ascii: "<") }
    self = dropFirst(text.count)
    let end = Array("</".utf8) + Array(name) + [UInt8(ascii: ">")]
    guard takePrefix(end), let value = XMLText.unescape(text) else { return nil }
    return (String(decoding: name, as: UTF8.self), value)
  }
}

extension String {
  /// The text without line ends after it: a token that was pasted or piped has one.
  fileprivate var trimmingLineEnds: Substring {
    var text = self[...]
    while let last = text.unicodeScalars.last, last == "\n" || last == "\r" {
      text.unicodeScalars.removeLast()
    }
    return text
  }
}
