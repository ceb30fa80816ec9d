internal import RegentEncodings
internal import RegentHTTPCodec
package import RegentPairing

/// Who a client says it is, and by what it means to show it; nothing is checked yet.
package enum ClientAuthentication: Sendable, Hashable {
  /// A name alone, as public clients have; `isBasic` when it came in the header with an empty password, which is how
  /// oidc-agent 4.2.6 says "public".
  case name(ClientID, isBasic: Bool)
  /// A secret, in the header or in the body.
  case secret(ClientID, String, isBasic: Bool)
  /// A signed assertion (RFC 7523); the name, when the body says it beside.
  case assertion(String, ClientID?)

  /// The only kind of assertion.
  package static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  /// The longest secret that is compared, in bytes: those made here have 43.
  private static let longestSecret = 256

  /// Reads the `Authorization` header and the body.
  ///
  /// One way at a time (RFC 6749 §2.3). The same name in the body beside the header is one way, and harmless.
  package init(authorization: String?, _ parameters: OAuthParameters) throws(OAuthError) {
    let name = parameters["client_id"]
    let secret = parameters["client_secret"]
    let assertion = parameters["client_assertion"]
    let kind = parameters["client_assertion_type"]
    if let authorization {
      guard secret == nil, assertion == nil else { throw Self.severalWays }
      let basic = try Self.basic(authorization)
      guard name.map({ $0.utf8.elementsEqual(basic.id.utf8) }) ?? true else {
        throw OAuthError(.invalidRequest, "the header and client_id name two clients: send one of them")
      }
      let id = try Self.id(basic.id, isBasic: true)
      guard !basic.secret.isEmpty else {
        self = .name(id, isBasic: true)
        return
      }
      self = .secret(id, try Self.bounded(basic.secret, isBasic: true), isBasic: true)
    } else if let assertion {
      guard secret == nil else { throw Self.severalWays }
      guard let kind, kind.utf8.elementsEqual(Self.assertionType.utf8) else {
        throw OAuthError(.invalidClient, "client_assertion_type must be the one of RFC 7523 for JWTs")
      }
      self = .assertion(assertion, try name.map { name throws(OAuthError) in try Self.id(name, isBasic: false) })
    } else {
      guard kind == nil else {
        throw OAuthError(.invalidRequest, "client_assertion_type is given, but client_assertion is not")
      }
      guard let name else {
        throw OAuthError(.invalidClient, "the request does not say which client asks: send client_id")
      }
      let id = try Self.id(name, isBasic: false)
      self =
        if let secret {
          .secret(id, try Self.bounded(secret, isBasic: false), isBasic: false)
        } else {
          .name(id, isBasic: false)
        }
    }
  }

  /// Whether a refusal is to be answered in HTTP's own way (RFC 6749 §5.2).
  package var isBasic: Bool {
    switch self {
    case .name(_, let isBasic), .secret(_, _, let isBasic): isBasic
    case .assertion: false
    }
  }

  private static let severalWays = OAuthError(
    .invalidRequest, "the client shows who it is in two ways at once: use one")

  private static func wrong(isBasic: Bool) -> OAuthError {
    OAuthError(.invalidClient, "no client of this name and secret is known", asksForBasic: isBasic)
  }

  private static func id(_ text: String, isBasic: Bool) throws(OAuthError) -> ClientID {
    guard let id = ClientID(text) else { throw wrong(isBasic: isBasic) }
    return id
  }

  private static func bounded(_ secret: String, isBasic: Bool) throws(OAuthError) -> String {
    guard secret.utf8.count <= longestSecret else { throw wrong(isBasic: isBasic) }
    return secret
  }

  /// The two parts are form-encoded before they are put together.
  ///
  /// Clients that encode nothing are read the same: names and secrets made here hold letters, digits, `_` and `-` only.
  private static func basic(_ header: String) throws(OAuthError) -> (id: String, secret: String) {
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "basic" else {
      throw OAuthError(
        .invalidClient, "a client shows who it is with Basic, in the body or by an assertion",
        asksForBasic: true)
    }
    guard let bytes = try? Base64.decode(String(words[1])),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let id = text(bytes[..<colon]),
      let secret = text(bytes[(colon + 1)...])
    else { throw wrong(isBasic: true) }
    return (id, secret)
  }

  private static func text(_ part: ArraySlice<UInt8>) -> String? {
    try? PercentDecoding.text(Array(part).span, plusSign: .space)
  }
}
