internal import HTTPServer
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

/// The common part of all OAuth endpoints: reading requests and building responses.
struct OAuthFrame: Sendable {
  let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  typealias Work = @Sendable (OAuthCall) async throws -> Response

  /// Mounts an OAuth endpoint that takes forms.
  ///
  /// All origins are allowed, because the endpoints ignore cookies.
  func mount(_ routes: inout Routes, _ endpoint: ServerMetadata.Endpoint, _ work: @escaping Work) {
    mount(&routes, endpoint, deciding: { call in later(call.request) { try await work(call) } })
  }

  /// Mounts an OAuth endpoint whose response may be known without the store.
  func mount(
    _ routes: inout Routes, _ endpoint: ServerMetadata.Endpoint,
    deciding work: @escaping @Sendable (OAuthCall) throws -> Answer
  ) {
    let path = "/oauth" + endpoint.rawValue
    routes.post(path) { request, _ in
      let request = request.forgetting
      do {
        return try work(try self.call(request, endpoint))
      } catch {
        return .now(response(error, to: request))
      }
    }
    routes.on(.options, path) { _, _ in .now(CrossOrigin.preflight([.post])) }
  }

  /// Makes a response that needs the store.
  func later(_ request: Request, _ work: @escaping @Sendable () async throws -> Response) -> Answer {
    .later { reply in complete(reply, request, work) }
  }

  /// Makes a response that needs the store and little work before that.
  ///
  /// The work starts at once on the request's event loop, so that no other thread has to be woken.
  func laterFromHere(_ request: Request, _ work: @escaping @Sendable () async throws -> Response) -> Answer {
    .later { reply in
      Task.immediate { reply.complete(await response(request, work)) }
    }
  }

  func complete(
    _ reply: PendingReply, _ request: Request, granted: Int? = nil, closes: Bool = false,
    _ work: @escaping @Sendable () async throws -> Response
  ) {
    Task {
      var response = await response(request, work)
      if let granted { response.addHeader(.preferenceApplied, "wait=\(granted)") }
      if closes { response.closesConnection = true }
      reply.complete(response)
    }
  }

  private func response(
    _ request: Request, _ work: @Sendable () async throws -> Response
  ) async -> Response {
    do {
      try core.requireToDecide()
      return Self.allowing(try await work(), request)
    } catch {
      return response(error, to: request)
    }
  }

  private func call(_ request: Request, _ endpoint: ServerMetadata.Endpoint) throws -> OAuthCall {
    try core.limits.take(request.clientAddress)
    let form: FormParameters
    do throws(RequestTextError) {
      form = try request.form()
    } catch {
      throw OAuthError(.invalidRequest, "the body is not a form: send application/x-www-form-urlencoded in UTF-8")
    }
    let header = try request.authorization()
    return OAuthCall(
      request: request, endpoint: endpoint, parameters: try OAuthParameters(form), authorization: header)
  }

  // MARK: - Building responses

  /// A JSON response that must not be cached.
  static func response(_ status: Status = .ok, _ document: JSONObject) -> Response {
    response(status, body: document.bytes())
  }

  /// A JSON response that must not be cached, from a prepared body.
  static func response(_ status: Status, body: [UInt8]) -> Response {
    var response = Response(status, type: "application/json", body: body)
    response.addHeader(.cacheControl, "no-store")
    response.addHeader(pragma, "no-cache")
    return response
  }

  private static let pragma = HeaderName(literal: "Pragma")

  /// Adds the CORS headers to the response when the request has an `Origin` header.
  static func allowing(_ response: Response, _ request: Request) -> Response {
    guard request.hasHeader(.origin) else { return response }
    var response = response
    CrossOrigin.allow(&response)
    return response
  }

  /// The response to a poll of a pending code.
  ///
  /// This response and `slow_down` are nearly all the responses to polls, so their bytes are prepared once.
  private static let pending = PreparedResponse(refusal(.pending))
  private static let slowDown = PreparedResponse(refusal(.slowDown))

  /// The response of an OAuth endpoint to any error.
  func response(_ error: any Error, to request: Request) -> Response {
    switch error {
    case let error as OAuthError: return response(error, to: request)
    default: return finished(plain(error), to: request)
    }
  }

  /// The response of an OAuth endpoint to an OAuth error.
  func response(_ error: OAuthError, to request: Request) -> Response {
    var response = answer(error)
    // This error code is sent only for registration tokens. They are bound to no key, so the scheme is always `Bearer`.
    if error.code == .invalidToken { response.addHeader(.wwwAuthenticate, Self.bearer(error, request)) }
    return finished(response, to: request)
  }

  /// The `WWW-Authenticate` header of the error.
  ///
  /// RFC 6750 §3: it has no error code when the request had no token.
  static func bearer(_ error: OAuthError, _ request: Request) -> String {
    TokenCredential.isShown(request) ? "Bearer error=\"\(error.code.rawValue)\"" : "Bearer"
  }

  private func plain(_ error: any Error) -> Response {
    switch error {
    case let error as CallError: return answer(error)
    case let error as StoreError:
      core.storeTrouble.note(error)
      return answer(CallError(error))
    default:
      core.log.error("call-failed", ("reason", "\(error)"))
      return Self.response(.internalServerError, ["error": "server_error"])
    }
  }

  func finished(_ response: Response, to request: Request) -> Response {
    var response = response
    if request.hasHeader(UsedProofs.header) {
      response.addHeader(UsedProofs.nonceHeader, core.oauth.proofs.nonce(core.clock))
    }
    return Self.allowing(response, request)
  }

  static func refusal(_ error: OAuthError) -> Response {
    response(
      Status(UInt16(error.status)),
      ["error": .string(error.code.rawValue), "error_description": .string(error.sentence)])
  }

  private func answer(_ error: OAuthError) -> Response {
    switch error.code {
    case .authorizationPending: return Response(Self.pending)
    case .slowDown: return Response(Self.slowDown)
    default: break
    }
    var response = Self.refusal(error)
    if error.code == .invalidClient, error.asksForBasic {
      response.addHeader(.wwwAuthenticate, "Basic realm=\"client\"")
    }
    if error.code == .temporarilyUnavailable { response.addRetryAfter(.seconds(60)) }
    return response
  }

  /// The response to a request that matches no OAuth endpoint.
  ///
  /// OAuth clients read JSON; nothing of the request is repeated.
  static func refusal(_ status: Status, to request: Request? = nil) -> Response {
    let (code, sentence): (OAuthError.Code, String) =
      switch status {
      case .methodNotAllowed:
        (.invalidRequest, "this address does not accept the HTTP method: the header Allow lists the accepted methods")
      case .notFound:
        (.invalidRequest, "there is no endpoint at this address: the discovery document lists the endpoints")
      case .contentTooLarge: (.invalidRequest, "the request is too long")
      case .serviceUnavailable: (.temporarilyUnavailable, "the service is busy: send the request again in a moment")
      default: (.invalidRequest, "the request cannot be read")
      }
    let response = response(status, ["error": .string(code.rawValue), "error_description": .string(sentence)])
    return request.map { allowing(response, $0) } ?? response
  }

  /// The response to an error of the service itself or of its limits, such as too many requests or an outage of the
  /// store.
  private func answer(_ error: CallError) -> Response {
    let isOurs = error.status.rawValue >= 500 || error.status == .tooManyRequests
    let code: OAuthError.Code = isOurs ? .temporarilyUnavailable : .invalidRequest
    var response = Self.response(isOurs ? error.status : .badRequest, ["error": .string(code.rawValue)])
    response.addRetryAfter(error, core.storeTrouble)
    return response
  }
}

extension Request {
  /// The value of the `Authorization` header; nil without one.
  func authorization() throws(OAuthError) -> String? {
    do throws(RequestTextError) {
      return try singleHeader(.authorization)
    } catch {
      throw OAuthError(.invalidRequest, "the header Authorization was sent more than once: send it once")
    }
  }
}

/// A parsed request to an OAuth endpoint, not yet authenticated.
struct OAuthCall: Sendable {
  let request: Request
  let endpoint: ServerMetadata.Endpoint
  let parameters: OAuthParameters
  let authorization: String?

  /// The client credentials in the request, not yet verified.
  func shown() throws(OAuthError) -> ClientAuthentication {
    try ClientAuthentication(authorization: authorization, parameters)
  }
}

extension ServiceCore {
  /// Verifies the DPoP proof of a request to an OAuth endpoint; nil when it has none.
  func proof(_ call: OAuthCall) throws(OAuthError) -> DPoPProof? {
    try oauth.proofs.read(call.request, at: oauth.metadata.address(call.endpoint), clock)
  }
}
