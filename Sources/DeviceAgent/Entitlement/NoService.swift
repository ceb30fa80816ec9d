import CommandKit
import RegentJSON

/// Refuses all TV requests.
///
/// Used by a daemon that keeps only tokens of other OAuth servers (`regent oauth`).
struct NoService: EntitlementSource {
  private func refuse<Answer>() throws(CommandError) -> Answer {
    throw CommandError(
      "this box has no TV service, only tokens of other services",
      hint: "list them: regent oauth list; to add a TV service, run regent setup and restart the daemon",
      code: "no-service")
  }

  func status() async throws(CommandError) -> AgentStatus { try refuse() }
  func providers() async throws(CommandError) -> [ProviderEntry] { try refuse() }
  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String] { try refuse() }
  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant { try refuse() }
  func metadata(_ key: String) async throws(CommandError) -> JSONValue { try refuse() }
  func header(method: String, path: String) async throws(CommandError) -> String { try refuse() }
  func signOut() async throws(CommandError) -> SignOutEnd { try refuse() }
}

extension AgentSettings {
  /// Whether no TV service is configured at all, and the box has sign-ins of `regent oauth`.
  ///
  /// The other cases are reported as mistakes: an incomplete configuration, and no configuration on a box without
  /// sign-ins of `regent oauth`.
  func hasOAuthAlone() throws(CommandError) -> Bool {
    guard services.isEmpty, requestor == nil, publicKey == nil, statementFile == nil, appRules.isEmpty
    else { return false }
    return try !OAuthFolder.names(in: state).isEmpty
  }
}
