import CommandKit
import HTTPServer
import RegentHTTPCodec
import RegentJSON

extension DaemonServer {
  /// Adds the routes that give local programs the tokens of other OAuth servers, to the users whom agent.conf allows
  /// it.
  func mountOAuth(_ tokens: OAuthTokenSource, _ routes: inout Routes) {
    routes.post("/v1/oauth/token") { request, _ in
      guard let body = body(request), let name = body["name"]?.string, OAuthFolder.isName(name) else {
        return malformed
      }
      let question = OAuthQuestion(name: name, refused: body["refused"]?.string)
      let proof = body["url"]?.string.map {
        OAuthProofOrder(method: body["method"]?.string ?? "GET", url: $0, nonce: body["nonce"]?.string)
      }
      return reply(request, .oauth, resource: name, detail: name) { () throws(CommandError) in
        try await tokens.token(question, for: proof).document
      }
    }
  }
}

extension DaemonClient {
  func token(_ question: OAuthQuestion, for call: OAuthProofOrder?) async throws(CommandError) -> OAuthGrant {
    var body: JSONObject = ["name": .string(question.name)]
    body["refused"] = question.refused.map(JSONValue.string)
    body["method"] = call.map { .string($0.method) }
    body["url"] = call.map { .string($0.url) }
    body["nonce"] = call?.nonce.map(JSONValue.string)
    guard let grant = OAuthGrant(try await oauth("token", body)) else { throw unreadable }
    return grant
  }
}
