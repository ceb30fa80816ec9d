package import RegentPairing

/// An address that pages may link or redirect to: a path of this service with an optional query, or an address
/// outside that a requestor has registered.
///
/// Only this type is allowed in `href`, `src`, `action` and redirects, so untrusted text cannot become `javascript:`
/// or `//elsewhere`.
package struct SafePath: Hashable, Sendable, CustomStringConvertible {
  package let text: String

  /// The path of the start page.
  package static let root = SafePath(["" as StaticString])

  /// Makes a path from constant steps.
  package init(_ steps: [StaticString]) {
    text = "/" + steps.map { "\($0)" }.joined(separator: "/")
  }

  /// Appends one step to the path.
  ///
  /// Special characters are percent-encoded, so the value stays one step.
  package func step(_ step: String) -> SafePath {
    // The browser would resolve `.` and `..`, so their dots are encoded.
    let encoded = SafePath.encoded(step)
    let isDots = !encoded.isEmpty && encoded.allSatisfy { $0 == "." }
    let safe = isDots ? String(repeating: "%2E", count: encoded.count) : encoded
    return SafePath(checked: text == "/" ? "/\(safe)" : "\(text)/\(safe)")
  }

  /// Appends one field to the query of the address.
  package func query(_ name: StaticString, _ value: String) -> SafePath {
    let mark = text.contains("?") ? "&" : "?"
    return SafePath(checked: "\(text)\(mark)\(name)=\(SafePath.encoded(value))")
  }

  /// Checks an address that a form sent back, such as the page to show after a sign-in.
  ///
  /// - Parameter text: for example `/screens`. Another host, a backslash, a control character, white space, a
  ///   fragment or more than 512 bytes give nil.
  package init?(returning text: String) {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "/"), bytes.count <= 512 else { return nil }
    // Browsers read both `//` and `/\` as the start of a host name.
    guard !(bytes.count > 1 && (bytes[1] == UInt8(ascii: "/"))) else { return nil }
    let isPlain = bytes.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !Array("\\\"'<>`{}|^#".utf8).contains(byte)
    }
    guard isPlain else { return nil }
    self.text = text
  }

  /// Makes an address outside this service, when the requestor's redirect rule allows it: a web page, or an app with
  /// its own URI scheme.
  ///
  /// `error` is an OAuth error code, added as a query field: `?error=access_denied`.
  package init?(leavingTo address: String, allowedBy rule: RedirectRule, error: StaticString? = nil) {
    guard rule.allows(address) else { return nil }
    guard let error else {
      text = address
      return
    }
    let fragment = address.firstIndex(of: "#") ?? address.endIndex
    let start = address[..<fragment]
    text = "\(start)\(start.contains("?") ? "&" : "?")error=\(error)\(address[fragment...])"
  }

  /// The address as the browser must request it.
  ///
  /// A path of this service gets the path of the public address (`base`) in front.
  package func below(_ base: String) -> String { text.hasPrefix("/") ? base + text : text }

  private init(checked text: String) {
    self.text = text
  }

  package var description: String { text }

  private static func encoded(_ text: String) -> String {
    var out = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        out.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        out += "%"
        out.unicodeScalars.append(digits[Int(byte >> 4)])
        out.unicodeScalars.append(digits[Int(byte & 15)])
      }
    }
    return out
  }
}
