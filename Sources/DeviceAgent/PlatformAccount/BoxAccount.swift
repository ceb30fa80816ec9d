import AccessEnabler
import CommandKit
import RegentCryptography
import RegentEncodings

/// The box's shared account (the platform account): the box's own sign-in at the requestor of the box's maker.
protocol BoxAccount: Sendable {
  /// The stored sign-in of the box. Sends no request.
  func kept() async throws(CommandError) -> SignInFacts?
  /// The providers that the picker for the box's shared account lists.
  func picker() async throws(CommandError) -> [ProviderEntry]
  /// The box's signed answer to a profile request, the service's challenge.
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> String
  /// Reports to the service what a viewer decided about an app, or that an app waits for a decision.
  func tell(_ decision: BoxDecision) async throws(CommandError)
  /// The decisions that the service has, including those made on the page "my screens".
  ///
  /// The service holds the request while its list still has this tag, for `wait` at most.
  ///
  /// - Returns: `nil` if the list has not changed.
  func decisions(unless tag: String?, wait: Duration) async throws(CommandError) -> ServiceDecisions?
  /// Signs the box out, locally and at the service.
  ///
  /// - Throws: `CommandError` if the sign-out could not be stored, so that a restart may undo it.
  func signOut() async throws(CommandError) -> SignOutEnd
  /// Asks the service whether the box's sign-in is still valid, and removes it if it is not.
  ///
  /// - Returns: whether the service answered.
  func lookAgain() async -> Bool
}

extension SignInFacts {
  /// A hash that identifies the same viewer in several sign-ins.
  var viewerMark: String {
    Hex.encode(SHA256.hash("regent platform viewer\n" + [provider, user].joined(separator: "\n")))
  }
}

/// An app's permission and the account that it may use.
struct AppStanding: Sendable, Equatable {
  let who: AppRequestor
  let permission: PlatformPermission
  var signIn: SignInFacts?
  /// Why apps cannot use the account, even if the box is signed in.
  var failure: String?
}
