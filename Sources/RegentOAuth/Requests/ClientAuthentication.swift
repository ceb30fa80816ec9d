internal import RegentEncodings
internal import RegentHTTPCodec
package import RegentPairing

/// The client that a request names and the credentials that it sends.
///
/// Nothing is verified yet.
package enum ClientAuthentication: Sendable, Hashable {
  /// The request has only a client id, as public clients send.
  ///
  /// `isBasic` if it came in the `Authorization` header with an empty password, which is how oidc-agent 4.2.6 marks a
  /// public client.
  case name(ClientID, isBasic: Bool)
  /// The request has a client id and a secret, in the header or in the body.
  case secret(ClientID, String, isBasic: Bool)
  /// The request has a signed assertion (RFC 7523), and the client id if the body also contains it.
  case assertion(String, ClientID?)

  /// The only supported `client_assertion_type`.
  package static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  /// The longest client secret that is compared, in bytes.
  ///
  /// The service creates secrets of 43 bytes.
  private static let longestSecret = 256

  /// Reads the client's credentials from the `Authorization` header and the body.
  ///
  /// A request must use one method only (RFC 6749 §2.3). The same `client_id` in the body as in the header is allowed.
  package init(authorization: String?, _ parameters: OAuthParameters) throws(OAuthError) {
    let name = parameters["client_id"]
    let secret = parameters["client_secret"]
    let assertion = parameters["client_assertion"]
    let kind = parameters["client_assertion_type"]
    if let authorization {
      guard secret == nil, assertion == nil else { throw Self.severalWays }
      let basic = try Self.basic(authorization)
      guard name.map({ $0.utf8.elementsEqual(basic.id.utf8) }) ?? true else {
        throw OAuthError(
          .invalidRequest, "the header Authorization and client_id name different clients: send one of the two")
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
        throw OAuthError(
          .invalidClient, "client_assertion_type must be urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      }
      self = .assertion(assertion, try name.map { name throws(OAuthError) in try Self.id(name, isBasic: false) })
    } else {
      guard kind == nil else {
        throw OAuthError(.invalidRequest, "client_assertion_type was sent without client_assertion")
      }
      guard let name else {
        throw OAuthError(.invalidClient, "the request does not name a client: send client_id")
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

  /// Whether a refusal must have `WWW-Authenticate: Basic` (RFC 6749 §5.2).
  package var isBasic: Bool {
    switch self {
    case .name(_, let isBasic), .secret(_, _, let isBasic): isBasic
    case .assertion: false
    }
  }

  private static let severalWays = OAuthError(
    .invalidRequest, "the client authenticates in two ways at once: use one of them")

  private static func wrong(isBasic: Bool) -> OAuthError {
    OAuthError(.invalidClient, "there is no client with this id and secret", asksForBasic: isBasic)
  }

  private static func id(_ text: String, isBasic: Bool) throws(OAuthError) -> ClientID {
    guard let id = ClientID(text) else { throw wrong(isBasic: isBasic) }
    return id
  }

  private static func bounded(_ secret: String, isBasic: Bool) throws(OAuthError) -> String {
    guard secret.utf8.count <= longestSecret else { throw wrong(isBasic: isBasic) }
    return secret
  }

  /// Reads a Basic header, whose user name and password are form-encoded (RFC 6749 §2.3.1).
  ///
  /// Clients that send both unencoded also work, because client ids and secrets of this service contain only letters,
  /// digits, `_` and `-`.
  private static func basic(_ header: String) throws(OAuthError) -> (id: String, secret: String) {
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "basic" else {
      throw OAuthError(
        .invalidClient, "a client must authenticate with HTTP Basic, in the body or with an assertion",
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
