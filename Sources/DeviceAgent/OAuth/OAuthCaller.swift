import CommandKit
import RegentCryptography
import RegentEncodings
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentOAuth
import RegentPairing
import RegentPlatform

/// Why a request to an OAuth server failed.
enum OAuthTrouble: Error {
  /// The server refused the request with an OAuth error code.
  case refused(code: String, CommandError)
  /// The server is unreachable or busy.
  ///
  /// A retry may succeed.
  case away(CommandError, asked: Duration?, fault: ClientError.TLSFault? = nil)
  /// The response is not an OAuth response, or the server's certificate is not trusted.
  case broken(CommandError, fault: ClientError.TLSFault? = nil)

  var error: CommandError {
    switch self {
    case .refused(_, let error), .away(let error, _, _), .broken(let error, _): error
    }
  }
}

/// Sends requests to one OAuth server as one client, with its credentials and DPoP proofs.
///
/// The requests contain secrets, so they go only to addresses in the server's discovery document. Redirects are not
/// followed.
final class OAuthCaller: Sendable {
  let http: Client
  private let authorities: CertificateAuthorities
  /// The server's latest DPoP nonce, and how far its clock is ahead of this box, in milliseconds.
  private let learned = Locked<(nonce: String?, ahead: Int64)>((nil, 0))

  private static let deadline = Duration.seconds(30)
  private static let longestNonce = 512

  init(
    authorities: CertificateAuthorities, proxy: ProxyChoice, buildTime: Int64, earliestTime: Int64 = 0,
    onNetworkChange: (@Sendable () -> Void)? = nil
  ) {
    self.authorities = authorities
    var configuration = ClientConfiguration(wallClock: { Clocks.wallMilliseconds() }, buildTime: buildTime)
    configuration.authorities = authorities
    configuration.proxy = proxy
    configuration.earliestTime = earliestTime
    configuration.onNetworkChange = onNetworkChange
    http = Client(configuration)
  }

  // MARK: Discovery documents

  /// Fetches the discovery document, from the first well-known address that has one.
  func document(of issuer: String) async throws(OAuthTrouble) -> JSONObject {
    let places = DiscoveredServer.documents(of: issuer)
    guard !places.isEmpty else {
      throw .broken(
        .usage(
          "--issuer is not a web address", hint: "use a form such as https://login.example.org, without a query"))
    }
    for place in places {
      let response = try await send(.get, place, body: [], headers: [], deadline: Self.deadline)
      if response.status == .ok {
        guard let object = Self.object(response) else { throw Self.unreadable(response) }
        return object
      }
      if let trouble = Self.passing(response) { throw trouble }
    }
    throw .broken(
      CommandError(
        "\(OAuthClient.shown(issuer)) has no OAuth metadata document",
        hint: "check --issuer: the address that the server's operator calls \"issuer\"", code: "oauth-server"))
  }

  // MARK: Form requests

  /// Sends a form to one of the server's endpoints, with the client's credentials and a DPoP proof if there is a key.
  func post(
    _ address: String, _ form: [(name: String, value: String)], as client: OAuthClient, at server: DiscoveredServer,
    key: SigningKey?, hold: Int? = nil, deadline: Duration = OAuthCaller.deadline, isEmptyAllowed: Bool = false
  ) async throws(OAuthTrouble) -> JSONObject {
    var form = form + [("client_id", client.id)]
    var headers: [(HeaderName, String)] = [(.contentType, "application/x-www-form-urlencoded")]
    if let secret = client.secret {
      switch server.secretMethod {
      case .post: form.append(("client_secret", secret))
      default:
        let pair = PercentEncoding.component(client.id) + ":" + PercentEncoding.component(secret)
        headers.append((.authorization, "Basic " + Base64.encode(Array(pair.utf8))))
      }
    }
    if let hold { headers.append((.prefer, "wait=\(hold)")) }
    let body = Array(PercentEncoding.form(form).utf8)
    let deadline = deadline + .seconds(hold ?? 0)
    for isRepeated in [false, true] {
      var proven = headers
      if let key { proven.append((Self.proofHeader, try proof(address, key))) }
      let response = try await send(.post, address, body: body, headers: proven, deadline: deadline)
      let hasLearned = learn(response)
      if isEmptyAllowed, response.status == .ok { return [:] }
      do throws(OAuthTrouble) {
        return try Self.answer(response)
      } catch {
        // If the box's clock was wrong or the nonce had expired, the refusal contained the time or the nonce for a
        // valid DPoP proof. Repeat the request once with it.
        guard case .refused(let code, _) = error, key != nil, hasLearned, !isRepeated,
          code == "use_dpop_nonce" || code == "invalid_dpop_proof"
        else { throw error }
      }
    }
    throw .broken(
      CommandError(
        "\(address) refuses this box's DPoP proofs (signatures that bind tokens to the box's key)",
        hint: "run regent oauth remove NAME, then regent oauth add NAME … --no-dpop, which does not bind them",
        code: "oauth-server"))
  }

  /// Revokes a token (RFC 7009).
  ///
  /// Returns whether the server confirmed it.
  func revoke(
    _ token: String, _ kind: String, at address: String, as client: OAuthClient, _ server: DiscoveredServer
  ) async -> Bool {
    do throws(OAuthTrouble) {
      _ = try await post(
        address, [("token", token), ("token_type_hint", kind)], as: client, at: server, key: nil,
        deadline: .seconds(10), isEmptyAllowed: true)
      return true
    } catch {
      return false
    }
  }

  private static let proofHeader = HeaderName(literal: "DPoP")
  private static let nonceHeader = HeaderName(literal: "DPoP-Nonce")

  private func proof(_ address: String, _ key: SigningKey) throws(OAuthTrouble) -> String {
    let (nonce, ahead) = learned.withLock { $0 }
    do throws(CommandError) {
      return try DPoPProof.text(
        "POST", address, token: nil, nonce: nonce, key: key, at: Clocks.wallMilliseconds() + ahead)
    } catch {
      throw .broken(error)
    }
  }

  /// Stores the DPoP nonce of a response, and the difference between the server's clock and the box's.
  ///
  /// - Returns: whether a new proof would differ from the last one.
  private func learn(_ response: ClientResponse) -> Bool {
    let nonce = response.header(Self.nonceHeader).flatMap { text in
      (1...Self.longestNonce).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        ? text : nil
    }
    let ahead = response.serverDate.map { $0 - Clocks.wallMilliseconds() }
    return learned.withLock { learned in
      let isNews = nonce != nil && nonce != learned.nonce || ahead.map { abs($0 - learned.ahead) > 5_000 } ?? false
      if let nonce { learned.nonce = nonce }
      // A difference of up to five seconds between the clocks is network delay.
      if let ahead { learned.ahead = abs(ahead) > 5_000 ? ahead : 0 }
      return isNews
    }
  }

  // MARK: HTTP

  private func send(
    _ method: RegentHTTPCodec.Method, _ address: String, body: [UInt8], headers: [(HeaderName, String)],
    deadline: Duration
  ) async throws(OAuthTrouble) -> ClientResponse {
    do throws(ClientError) {
      var request = ClientRequest(method, try ClientURL(address), body: body)
      request.deadline = deadline
      request.responseLimit = DiscoveredServer.longest
      request.addHeader(.accept, "application/json")
      for (name, value) in headers { request.addHeader(name, value) }
      return try await http.send(request)
    } catch {
      throw Self.trouble(error)
    }
  }

  private static func trouble(_ error: ClientError) -> OAuthTrouble {
    switch error.kind {
    case .unreachable, .timedOut, .connectionLost, .connectionSilent, .cancelled, .system, .proxyRefused:
      return .away(
        CommandError(error.description, hint: error.hint, code: "unreachable", exit: .unreachable), asked: nil)
    case .tls(let fault):
      let isClock = fault == .clockAhead || fault == .clockBehind
      let known = CommandError(
        error.description, hint: error.hint, code: isClock ? "clock" : "certificate", exit: .unreachable)
      return isClock || fault == .notYetValid || fault == .expired
        ? .away(known, asked: nil, fault: fault) : .broken(known, fault: fault)
    case .libraryMissing:
      return .broken(CommandError(error.description, hint: error.hint, code: "failed"))
    case .invalidRequest, .tooLarge, .malformed, .redirectRefused:
      return .broken(CommandError(error.description, hint: error.hint, code: "oauth-server"))
    }
  }

  private static func object(_ response: ClientResponse) -> JSONObject? {
    (try? JSONValue(reading: response.body, limits: DiscoveredServer.limits))?.object
  }

  /// The JSON object of a response, or the error.
  ///
  /// The OAuth error code counts, not the HTTP status: some servers send `authorization_pending` with status 428 or
  /// even 200.
  private static func answer(_ response: ClientResponse) throws(OAuthTrouble) -> JSONObject {
    let object = object(response)
    if let code = object?["error"]?.string, response.status.rawValue < 500 {
      let word = String(OAuthClient.shown(code).prefix(64))
      let sentence = object?["error_description"]?.string.map { OAuthClient.shown($0) }
      throw .refused(
        code: word,
        CommandError(
          "\(response.url.origin) refused the request: \(word)",
          hint: sentence.flatMap { $0.isEmpty ? nil : "its reason: \($0)" },
          code: "refused"))
    }
    if let trouble = passing(response) { throw trouble }
    guard response.status == .ok, let object else { throw unreadable(response) }
    return object
  }

  /// The error if the HTTP status is one that a retry may resolve; otherwise nil.
  private static func passing(_ response: ClientResponse) -> OAuthTrouble? {
    guard response.status.rawValue >= 500 || [408, 429].contains(response.status.rawValue) else { return nil }
    let asked = response.header(HeaderName(literal: "Retry-After")).flatMap { Int64($0) }
      .map { Duration.seconds(min(max($0, 0), 3600)) }
    let sentence = object(response)?["error_description"]?.string.map { OAuthClient.shown($0) } ?? ""
    return .away(
      CommandError(
        "\(response.url.origin) is overloaded or has a problem (\(response.status.rawValue))",
        hint: "try again in a minute" + (sentence.isEmpty ? "" : "; its reason: \(sentence)"),
        code: "busy", exit: .unreachable), asked: asked)
  }

  private static func unreadable(_ response: ClientResponse) -> OAuthTrouble {
    let isRedirect = (300..<400).contains(response.status.rawValue)
    return .broken(
      CommandError(
        isRedirect
          ? "\(response.url.origin) redirects to another address, which is refused"
          : "the answer of \(response.url.origin) is not an OAuth answer (\(response.status.rawValue))",
        hint: "check --issuer, and whether the network has a sign-in page of its own", code: "oauth-server"))
  }
}

extension DPoPProof {
  /// Creates a DPoP proof for a request.
  static func text(
    _ method: String, _ address: String, token: String?, nonce: String?, key: SigningKey, at wall: Int64
  ) throws(CommandError) -> String {
    guard let target = ProofTarget(address) else {
      throw .usage(
        "\"\(OAuthClient.shown(address))\" is not a web address",
        hint: "use a form such as https://api.example.org/path")
    }
    do throws(KeyError) {
      return try make(
        for: Request(method: method, target: target, accessToken: token), with: key, nonce: nonce,
        at: Instant(milliseconds: wall))
    } catch {
      throw CommandError("could not create a DPoP proof: \(error)")
    }
  }
}
