package import RegentPairing

/// An address on this service: a path and perhaps a query; or, on the one page that leaves it, an address that a
/// requestor has registered.
///
/// Only this type may stand in `href`, `src` and `action`, and be redirected to: a text that a stranger chose cannot
/// become `javascript:` or `//elsewhere`.
package struct SafePath: Hashable, Sendable, CustomStringConvertible {
  /// The address as it is sent.
  package let text: String

  /// The front page.
  package static let root = SafePath(["" as StaticString])

  /// A path of steps that the program knows.
  package init(_ steps: [StaticString]) {
    text = "/" + steps.map { "\($0)" }.joined(separator: "/")
  }

  /// The same path with one more step; whatever it holds becomes one percent-encoded step.
  package func step(_ step: String) -> SafePath {
    // A step of dots would be resolved away by the browser.
    let encoded = SafePath.encoded(step)
    let isDots = !encoded.isEmpty && encoded.allSatisfy { $0 == "." }
    let safe = isDots ? String(repeating: "%2E", count: encoded.count) : encoded
    return SafePath(checked: text == "/" ? "/\(safe)" : "\(text)/\(safe)")
  }

  /// The same path with one more query field.
  package func query(_ name: StaticString, _ value: String) -> SafePath {
    let mark = text.contains("?") ? "&" : "?"
    return SafePath(checked: "\(text)\(mark)\(name)=\(SafePath.encoded(value))")
  }

  /// An address that came back from a form, when it is one of ours in shape: the way home after signing in.
  ///
  /// - Parameter text: for example `/screens`; another host, a backslash, a control character, white space, a fragment
  ///   or more than 512 bytes give nil.
  package init?(returning text: String) {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "/"), bytes.count <= 512 else { return nil }
    // Browsers read both `//` and `/\` as the beginning of a host.
    guard !(bytes.count > 1 && (bytes[1] == UInt8(ascii: "/"))) else { return nil }
    let isPlain = bytes.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !Array("\\\"'<>`{}|^#".utf8).contains(byte)
    }
    guard isPlain else { return nil }
    self.text = text
  }

  /// An address elsewhere, when the rule of a requestor lets browsers go there: a page, or an app by a scheme of its
  /// own.
  ///
  /// With an `error` the address says so, as OAuth has it: `?error=access_denied`.
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

  /// The address as a browser follows it: below the path of the public address, when it is one of ours.
  package func below(_ base: String) -> String { text.hasPrefix("/") ? base + text : text }

  private init(checked text: String) {
    self.text = text
  }

  /// The address.
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
