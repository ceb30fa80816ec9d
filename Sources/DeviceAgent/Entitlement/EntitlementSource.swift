import CommandKit
import RegentJSON

/// Where commands get their answers: the daemon when it runs, else the SDK in this process.
///
/// Errors are ``CommandError``s: code, sentence, hint and exit code travel through the daemon's socket unchanged.
protocol EntitlementSource: Sendable {
  func status() async throws(CommandError) -> AgentStatus
  func providers() async throws(CommandError) -> [ProviderEntry]
  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String]
  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant
  func metadata(_ key: String) async throws(CommandError) -> JSONValue
  func header(method: String, path: String) async throws(CommandError) -> String
  /// Signs this box out.
  ///
  /// - Returns: whether somebody was signed in.
  func signOut() async throws(CommandError) -> SignOutEnd
}

/// What came of a sign-out.
enum SignOutEnd: Sendable, Equatable {
  case wasNotSignedIn
  /// The service knows.
  case told
  /// The box is signed out, and the service did not answer in time: it is told later.
  case untold

  var members: JSONObject {
    ["wasSignedIn": .bool(self != .wasNotSignedIn), "serviceKnows": .bool(self != .untold)]
  }
}

/// Whether and how this box is signed in.
struct AgentStatus: Sendable, Equatable {
  var requestor: String?
  var deviceID: String?
  var signIn: SignInFacts?
  /// Whether the daemon said it.
  var isFromDaemon = false
}

/// A sign-in as it is shown.
struct SignInFacts: Sendable, Equatable {
  var provider: String
  var providerName: String
  var user: String
  /// Epoch milliseconds.
  var expires: Int64
  var source: String
}

/// The right to play one resource now.
struct MediaGrant: Sendable, Equatable {
  var resource: String
  /// What stream servers get: base64.
  var token: String
  /// Epoch milliseconds.
  var expires: Int64
  var provider: String
}
