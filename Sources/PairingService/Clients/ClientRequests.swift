internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentJSON
internal import RegentPairing
internal import RegentPairingWire

/// The error for a client that was not registered or got no token.
struct ClientRefusal: Error {
  let reason: ClientErrorDocument.Reason
  /// Whether the client used HTTP Basic authentication, so that the response must be 401 with `WWW-Authenticate`.
  var asksForBasic = false
  /// Whether the refusal counts as an invalid credential against the rate limit of the client's address.
  var counts = false

  init(
    _ reason: ClientErrorDocument.Reason, asksForBasic: Bool = false, counts: Bool = false
  ) {
    self.reason = reason
    self.asksForBasic = asksForBasic
    self.counts = counts
  }
}

/// The body of a registration: `{"software_statement":"…","redirect_uri":"…"}`.
///
/// Unknown members are ignored.
struct RegistrationRequest {
  let statement: String
  let redirectURI: String?

  /// The maximum length of the body.
  ///
  /// It suffices for a statement and an address, and parsing longer bodies would waste time.
  private static let longest = 32_768

  init(_ request: Request) throws(ClientRefusal) {
    guard request.contentType?.isJSON ?? false,
      // The parser refuses duplicate names, text after the document, and other ambiguous input that another parser
      // could read differently.
      let body = try? JSONValue(
        reading: request.body, limits: JSONLimits(depth: 8, bytes: Self.longest, allowsNUL: true)),
      let members = body.object, let statement = try? members.string("software_statement"),
      !statement.isEmpty
    else { throw ClientRefusal(.invalidRequest) }
    self.statement = statement
    do throws(JSONShapeError) {
      redirectURI = try members.optionalString("redirect_uri")
    } catch {
      throw ClientRefusal(.invalidRequest)
    }
  }
}

extension MediaType {
  fileprivate var isJSON: Bool {
    matches(.json) && (parameter("charset").map { $0.lowercased() == "utf-8" } ?? true)
  }
}

/// The credentials in a request for an access token: from the form or the query, as documented, or from HTTP Basic
/// authentication (RFC 6749 §2.3.1).
struct ClientCredentials {
  let id: ClientID
  let secret: String
  let areBasic: Bool

  init(_ request: Request) throws(ClientRefusal) {
    let given: (grant: String?, id: String?, secret: String?)
    do throws(CallError) {
      let parameters = try CallParameters(request)
      given = (
        try parameters.value("grant_type"), try parameters.value("client_id"),
        try parameters.value("client_secret")
      )
    } catch {
      throw ClientRefusal(.invalidRequest)
    }
    guard let grant = given.grant else { throw ClientRefusal(.invalidRequest) }
    guard grant.utf8.elementsEqual("client_credentials".utf8) else {
      throw ClientRefusal(.unsupportedGrantType)
    }
    let id: String
    if let basic = try Self.basic(request) {
      // The secret must be sent in only one place. The client id may be repeated if it is the same.
      guard given.secret == nil, given.id.map({ $0.utf8.elementsEqual(basic.id.utf8) }) ?? true
      else { throw ClientRefusal(.invalidRequest) }
      (id, secret, areBasic) = (basic.id, basic.secret, true)
    } else {
      guard let name = given.id, let word = given.secret else {
        throw ClientRefusal(.invalidRequest)
      }
      (id, secret, areBasic) = (name, word, false)
    }
    guard let id = ClientID(id), secret.utf8.count <= 256 else {
      throw ClientRefusal(.invalidClient, asksForBasic: areBasic, counts: true)
    }
    self.id = id
  }

  /// Reads `Authorization: Basic`, whose two parts are form-encoded before they are joined.
  private static func basic(_ request: Request) throws(ClientRefusal) -> (
    id: String, secret: String
  )? {
    let header: String?
    do throws(RequestTextError) {
      header = try request.singleHeader(.authorization)
    } catch {
      throw ClientRefusal(.invalidRequest)
    }
    guard let header else { return nil }
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "basic" else {
      throw ClientRefusal(.invalidRequest)
    }
    guard let bytes = try? Base64.decode(String(words[1])),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let id = Self.text(bytes[..<colon]),
      let secret = Self.text(bytes[(colon + 1)...])
    else { throw ClientRefusal(.invalidClient, asksForBasic: true, counts: true) }
    return (id, secret)
  }

  private static func text(_ part: ArraySlice<UInt8>) -> String? {
    let bytes = Array(part)
    return try? PercentDecoding.text(bytes.span, plusSign: .space)
  }
}
