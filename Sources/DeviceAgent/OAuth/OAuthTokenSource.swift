import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentJSON
import RegentOAuth
import RegentPlatform

/// A program's request for a token of one sign-in.
struct OAuthQuestion: Hashable, Sendable {
  var name: String
  /// A token that the other service has refused.
  ///
  /// The daemon then fetches a new token instead of returning this one.
  var refused: String?
}

/// A valid access token.
struct OAuthGrant: Sendable, Equatable {
  var name: String
  var token: String
  /// The token type, `Bearer` or `DPoP`.
  var kind: String
  /// When the token expires, in epoch milliseconds; `nil` if the server did not say.
  var expires: Int64?
  var scope: String?
  /// The DPoP proof for one request, if the token is bound to the box's key.
  var proof: String?

  var document: JSONValue {
    var object: JSONObject = ["name": .string(name), "token": .string(token), "type": .string(kind)]
    object["expires"] = expires.map(JSONValue.integer)
    object["scope"] = scope.map(JSONValue.string)
    object["proof"] = proof.map(JSONValue.string)
    return .object(object)
  }
}

extension OAuthGrant {
  init?(_ document: JSONValue) {
    guard let name = document["name"]?.string, let token = document["token"]?.string,
      let kind = document["type"]?.string
    else { return nil }
    self.init(
      name: name, token: token, kind: kind, expires: document["expires"]?.int64, scope: document["scope"]?.string,
      proof: document["proof"]?.string)
  }
}

/// The request for which a program needs a DPoP proof.
struct OAuthProofOrder: Sendable, Equatable {
  var method: String
  var url: String
  /// The nonce of the server that the program calls.
  var nonce: String?
}

/// Returns access tokens, and renews them before they expire.
struct OAuthTokenSource: Sendable {
  let state: String
  let proxy: ProxyChoice
  let buildTime: Int64
  private let flights = SingleFlight<OAuthQuestion, OAuthGrant>()

  /// The shortest time between two renewals because of a refused token, in milliseconds.
  ///
  /// The pause keeps a program that takes every response for a refusal from overloading the server.
  static let refusalPause: Int64 = 10_000

  init(state: String, proxy: ProxyChoice = .environment, buildTime: Int64) {
    self.state = state
    self.proxy = proxy
    self.buildTime = buildTime
  }

  /// Returns a valid access token.
  ///
  /// Renews it first if necessary; identical simultaneous requests share one renewal.
  func token(_ question: OAuthQuestion, for call: OAuthProofOrder? = nil) async throws(CommandError) -> OAuthGrant {
    var grant = try await flights.answer(question) { () throws(CommandError) in try await fetch(question) }
    guard let call, grant.isBound else { return grant }
    grant.proof = try DPoPProof.text(
      call.method, call.url, token: grant.token, nonce: call.nonce,
      key: try OAuthFolder(question.name, in: state).key(), at: Clocks.wallMilliseconds())
    return grant
  }

  private func fetch(_ question: OAuthQuestion) async throws(CommandError) -> OAuthGrant {
    let folder = OAuthFolder(question.name, in: state)
    let client = try folder.client()
    if let fresh = try freshGrant(folder, question) { return fresh }
    let lock = try await folder.lock()
    // Another process may have renewed the token while this one waited for the lock.
    if let fresh = try freshGrant(folder, question) { return fresh }
    guard let tokens = try folder.tokens() else { throw Self.notSignedIn(question.name) }
    let fresh = try await renewed(tokens, folder, client)
    lock.release()
    return OAuthGrant(question.name, fresh, at: .now())
  }

  private func freshGrant(_ folder: OAuthFolder, _ question: OAuthQuestion) throws(CommandError) -> OAuthGrant? {
    let now = KeptMoment.now()
    guard let tokens = try folder.tokens() else { throw Self.notSignedIn(question.name) }
    let isRefused = question.refused.map { $0.utf8.elementsEqual(tokens.answer.accessToken.utf8) } ?? false
    let mayRenew = (tokens.received.elapsed(until: now) ?? .max) >= Self.refusalPause
    guard tokens.isFresh(at: now), !(isRefused && mayRenew) else { return nil }
    return OAuthGrant(question.name, tokens, at: now)
  }

  private func renewed(
    _ tokens: KeptTokens, _ folder: OAuthFolder, _ client: OAuthClient
  ) async throws(CommandError) -> KeptTokens {
    guard let refreshToken = tokens.answer.refreshToken else {
      try folder.forgetTokens()
      throw Self.notSignedIn(folder.name)
    }
    let server = try client.discovered()
    let key = client.isBound(at: server) ? try folder.key() : nil
    // Writes the old tokens first, so that a full disk is noticed before the server replaces the refresh token.
    try folder.keep(tokens)
    let caller = OAuthCaller(
      authorities: folder.authorities, proxy: proxy, buildTime: buildTime, earliestTime: folder.newestTime)
    do throws(OAuthTrouble) {
      let reply = try await caller.post(
        server.token, [("grant_type", TokenRequest.refreshGrant), ("refresh_token", refreshToken)] + client.target,
        as: client, at: server, key: key)
      var answer = try client.tokens(in: reply)
      answer.refreshToken = answer.refreshToken ?? refreshToken
      answer.scope = answer.scope ?? tokens.answer.scope
      let fresh = KeptTokens(answer, at: .now())
      // The new tokens are stored before a program gets one: after a power cut, the old refresh token would be invalid.
      do throws(CommandError) { try folder.keep(fresh) } catch { throw .broken(error) }
      return fresh
    } catch {
      switch error {
      case .refused("invalid_grant", _):
        try folder.forgetTokens()
        throw Self.notSignedIn(folder.name)
      case .away where (tokens.remaining(at: .now()) ?? 0) > 0: return tokens
      // The server is unreachable or busy, perhaps for a long time. The refresh token is kept, because it may still be
      // valid.
      case .away(let away, _, _):
        throw CommandError(
          away.message, hint: "the sign-in is kept: \(away.hint ?? "try again later")", code: away.code, exit: away.exit
        )
      case .refused, .broken: throw error.error
      }
    }
  }

  static func notSignedIn(_ name: String) -> CommandError {
    CommandError(
      "not signed in at \"\(name)\", or the sign-in has ended", hint: "run regent oauth pair \(name)",
      code: "not-signed-in", exit: .notSignedIn)
  }
}

extension OAuthClient {
  /// Parses the server's token response.
  func tokens(in reply: JSONObject) throws(OAuthTrouble) -> TokenAnswer {
    do throws(ForeignAnswerError) {
      return try TokenAnswer(foreign: reply)
    } catch {
      throw .broken(
        CommandError(
          "the tokens that \(host) sent cannot be used: \(error)",
          hint: "the sign-in is kept; tell the operator of that server", code: "oauth-server"))
    }
  }
}

extension OAuthGrant {
  /// Whether the token is useless without a proof of the box's key.
  var isBound: Bool { kind == "DPoP" }

  fileprivate init(_ name: String, _ tokens: KeptTokens, at now: KeptMoment) {
    self.init(
      name: name, token: tokens.answer.accessToken, kind: tokens.answer.kind,
      expires: tokens.remaining(at: now).map { now.wall + $0 }, scope: tokens.answer.scope)
  }
}
