import CommandKit
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentOAuth

/// What a box is at a server of OAuth: written by `regent oauth add`, the secret with it, since the file is 0600.
struct OAuthClient: Sendable, Equatable {
  var issuer: String
  var id: String
  var secret: String?
  var scopes: [String] = []
  /// Whom the tokens are for, where a server wants to be told: `audience` as many have it, `resource` as RFC 8707 has.
  var audience: String?
  var resource: String?
  var refusesDPoP = false
  /// The server's own document, as it was read last.
  var server: JSONObject

  /// Whether tokens are bound to a key of the box.
  func isBound(at server: DiscoveredServer) -> Bool { server.hasDPoP && !refusesDPoP }

  func discovered() throws(CommandError) -> DiscoveredServer { try Self.read(server, issuer) }

  static func read(_ document: JSONObject, _ issuer: String) throws(CommandError) -> DiscoveredServer {
    do throws(ForeignAnswerError) {
      return try DiscoveredServer(document, askedFor: issuer)
    } catch {
      throw CommandError("\(shown(issuer)) cannot be used: \(error)", code: "oauth-server")
    }
  }

  /// What goes with a request for a code and with each for tokens.
  var target: [(name: String, value: String)] {
    [("audience", audience), ("resource", resource)].compactMap { name, value in value.map { (name, $0) } }
  }

  /// What people call the server.
  var host: String { ForeignAddress.callable(issuer, allowsLoopback: true).map { "\($0.host)" } ?? "" }

  var document: JSONValue {
    var object: JSONObject = [
      "version": 1, "issuer": .string(issuer), "clientId": .string(id),
      "scopes": .array(scopes.map { .string($0) }), "refusesDPoP": .bool(refusesDPoP), "server": .object(server),
    ]
    object["clientSecret"] = secret.map(JSONValue.string)
    object["audience"] = audience.map(JSONValue.string)
    object["resource"] = resource.map(JSONValue.string)
    return .object(object)
  }
}

extension OAuthClient {
  init?(_ document: JSONValue) {
    guard document["version"]?.int64 == 1, let issuer = document["issuer"]?.string,
      let id = document["clientId"]?.string, let server = document["server"]?.object
    else { return nil }
    self.init(
      issuer: issuer, id: id, secret: document["clientSecret"]?.string,
      scopes: (document["scopes"]?.array ?? []).compactMap(\.string), audience: document["audience"]?.string,
      resource: document["resource"]?.string, refusesDPoP: document["refusesDPoP"]?.bool ?? false, server: server)
  }

  /// A text of somebody else's in a sentence of ours: visible ASCII, and not much of it.
  static func shown(_ text: String) -> String {
    String(decoding: text.utf8.filter { (0x20...0x7E).contains($0) }.prefix(200), as: UTF8.self)
  }
}
