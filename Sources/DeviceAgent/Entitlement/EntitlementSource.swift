import CommandKit
import RegentJSON

/// The source of answers for the commands: the daemon if it runs, and otherwise the SDK in this process.
///
/// Errors are ``CommandError``s, so that code, message, hint and exit code pass through the daemon's socket unchanged.
protocol EntitlementSource: Sendable {
  func status() async throws(CommandError) -> AgentStatus
  func providers() async throws(CommandError) -> [ProviderEntry]
  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String]
  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant
  func metadata(_ key: String) async throws(CommandError) -> JSONValue
  func header(method: String, path: String) async throws(CommandError) -> String
  /// Signs this box out, and says whether it was signed in.
  func signOut() async throws(CommandError) -> SignOutEnd
}

/// The result of signing the box out.
enum SignOutEnd: Sendable, Equatable {
  case wasNotSignedIn
  /// The service has confirmed the sign-out.
  case told
  /// The box is signed out, but the service did not answer in time. A later request will report the sign-out.
  case untold

  var members: JSONObject {
    ["wasSignedIn": .bool(self != .wasNotSignedIn), "serviceKnows": .bool(self != .untold)]
  }
}

struct AgentStatus: Sendable, Equatable {
  var requestor: String?
  var deviceID: String?
  var signIn: SignInFacts?
  /// Whether the box is not signed in because an operator has disabled its account.
  var isAccountDisabled = false
  /// Whether the daemon sent this answer, and not the SDK in this process.
  var isFromDaemon = false
}

/// The parts of a sign-in that commands show.
struct SignInFacts: Sendable, Equatable {
  var provider: String
  var providerName: String
  var user: String
  /// When the sign-in expires, in epoch milliseconds.
  var expires: Int64
  var source: String
}

/// A media token for one resource.
struct MediaGrant: Sendable, Equatable {
  var resource: String
  /// The base64 of the media token, as stream servers receive it.
  var token: String
  /// When the media token expires, in epoch milliseconds.
  var expires: Int64
  var provider: String
}
