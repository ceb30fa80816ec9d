import CommandKit
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentOAuth

/// The box as a client of one OAuth server, as `regent oauth add` stores it.
///
/// The file has mode 0600, because it may contain the client's secret.
struct OAuthClient: Sendable, Equatable {
  var issuer: String
  var id: String
  var secret: String?
  var scopes: [String] = []
  /// The audience of the tokens, for servers that need it: as `audience`, which many servers use, or as `resource` (RFC
  /// 8707).
  var audience: String?
  var resource: String?
  var refusesDPoP = false
  /// The server's discovery document, as it was last fetched.
  var server: JSONObject

  /// Whether tokens are bound to a key of the box (DPoP).
  func isBound(at server: DiscoveredServer) -> Bool { server.hasDPoP && !refusesDPoP }

  func discovered() throws(CommandError) -> DiscoveredServer { try Self.read(server, issuer) }

  static func read(_ document: JSONObject, _ issuer: String) throws(CommandError) -> DiscoveredServer {
    do throws(ForeignAnswerError) {
      return try DiscoveredServer(document, askedFor: issuer)
    } catch {
      throw CommandError("\(shown(issuer)) cannot be used: \(error)", code: "oauth-server")
    }
  }

  /// The parameters for the audience, which go with each request for a code or tokens.
  var target: [(name: String, value: String)] {
    [("audience", audience), ("resource", resource)].compactMap { name, value in value.map { (name, $0) } }
  }

  /// The server's host name, as people know it.
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

  /// Makes untrusted text safe for messages: visible ASCII, at most 200 bytes.
  static func shown(_ text: String) -> String {
    String(decoding: text.utf8.filter { (0x20...0x7E).contains($0) }.prefix(200), as: UTF8.self)
  }
}
