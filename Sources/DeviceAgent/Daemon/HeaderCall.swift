import CommandKit
import RegentPairingWire

/// A request to the service for which the daemon may give a signed header to users that agent.conf allows it.
///
/// The service accepts a header for every path that ends with the signed path, and the signature covers neither query
/// nor body. Therefore only the requests listed here are signed, spelled in a way that no proxy rewrites. A request for
/// something that another permission protects (titles, attributes, a sign-in) also needs that permission, without a
/// limit to certain names. Requests that are not listed get no header, because a newer service may have more requests.
/// Sign-outs and requests for the box's shared account get none either.
struct HeaderCall: Sendable, Equatable {
  /// The request as a permission `header=` names it, without the service's path prefix and the format suffix, such as
  /// `GET:/api/v1/tokens/authn`.
  let name: String
  /// The permission that this request needs in addition to `header`.
  let alsoNeeds: DaemonAction?

  /// Returns `nil` if no permission allows a header for this request.
  init?(method: String, path: String) {
    guard let path = SignedHeaderPath.signed(path), Self.isPlain(path) else { return nil }
    let segments = WireFormat.split(path: path).path.split(separator: "/").map(String.init)
    guard let start = segments.lastIndex(where: { $0 == "api" || $0 == "reggie" }) else { return nil }
    let call = segments[start...]
    let name = "\(method.uppercased()):/\(call.joined(separator: "/"))"
    guard let known = Self.known.first(where: { $0.matches(name) }) else { return nil }
    self.name = name
    alsoNeeds = known.alsoNeeds
  }

  /// Checks the pattern of a `header=` permission in agent.conf.
  static func check(_ pattern: String, _ place: String) throws(CommandError) {
    let isRoute = ["GET", "POST", "DELETE"].contains { method in
      ["/", "*"].contains { pattern.hasPrefix("\(method):\($0)") }
    }
    guard isRoute else {
      throw .usage(
        "\(place): header=\(harmless(pattern)) is not a method and a path",
        hint: "use header, or header=METHOD:PATH such as header=GET:/api/v1/tokens/authn; * matches any text")
    }
    guard !pattern.contains("*"), let colon = pattern.firstIndex(of: ":") else { return }
    let path = String(pattern[pattern.index(after: colon)...])
    guard HeaderCall(method: String(pattern[..<colon]), path: path)?.name != pattern else { return }
    throw .usage(
      "\(place): there are no headers for \(harmless(pattern))",
      hint: "the calls are \(known.map(\.text).joined(separator: ", "))")
  }

  /// A request to the service that may get a header.
  ///
  /// In its path, `{}` stands for one segment.
  private struct Known {
    let text: String
    let alsoNeeds: DaemonAction?

    func matches(_ name: String) -> Bool {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      let found = name.split(separator: "/", omittingEmptySubsequences: false)
      return parts.count == found.count
        && zip(parts, found).allSatisfy { $0 == "{}" || $0.utf8.elementsEqual($1.utf8) }
    }
  }

  private static let known = [
    Known(text: "GET:/api/v1/tokens/authn", alsoNeeds: nil),
    Known(text: "GET:/api/v1/checkauthn", alsoNeeds: nil),
    Known(text: "GET:/api/v1/config/{}", alsoNeeds: nil),
    Known(text: "GET:/api/v1/preauthorize", alsoNeeds: .preauthorize),
    Known(text: "GET:/api/v1/authorize", alsoNeeds: .token),
    Known(text: "GET:/api/v1/tokens/authz", alsoNeeds: .token),
    Known(text: "GET:/api/v1/tokens/media", alsoNeeds: .token),
    Known(text: "GET:/api/v1/mediatoken", alsoNeeds: .token),
    Known(text: "GET:/api/v1/tokens/usermetadata", alsoNeeds: .metadata),
    Known(text: "POST:/reggie/v1/{}/regcode", alsoNeeds: .pair),
    Known(text: "GET:/reggie/v1/{}/regcode/{}", alsoNeeds: .pair),
    Known(text: "DELETE:/reggie/v1/{}/regcode/{}", alsoNeeds: .pair),
    Known(text: "GET:/api/v1/authenticate/{}", alsoNeeds: .pair),
    Known(text: "GET:/api/v1/checkauthn/{}", alsoNeeds: .pair),
    Known(text: "GET:/api/v1/preauthorize/{}", alsoNeeds: .pair),
    Known(text: "POST:/api/v1/authenticate/freepreview", alsoNeeds: .pair),
  ]

  /// Whether a proxy and the service read the path in the same way: it has no escapes and no empty or dotted segments.
  private static func isPlain(_ path: String) -> Bool {
    path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "/"):
        true
      default: false
      }
    } && !path.contains("//") && !path.contains("/.") && !path.hasSuffix("/")
  }
}
