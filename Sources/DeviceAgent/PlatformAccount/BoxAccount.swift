import AccessEnabler
import CommandKit
import RegentCryptography
import RegentEncodings

/// The platform account: the box's own sign-in, at the requestor of the box's maker.
protocol BoxAccount: Sendable {
  /// The stored sign-in.
  ///
  /// Sends no request.
  func kept() async throws(CommandError) -> SignInFacts?
  /// The providers for the platform's provider picker.
  func picker() async throws(CommandError) -> [ProviderEntry]
  /// The signed answer to a service's profile request.
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> String
  /// Reports a viewer's decision, or that an app waits for one, to the service.
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
  /// Asks the service whether the sign-in is still valid, and removes it if it is not.
  ///
  /// - Returns: whether the service answered.
  func lookAgain() async -> Bool
}

extension SignInFacts {
  /// A hash that identifies the viewer across sign-ins.
  var viewerMark: String {
    Hex.encode(SHA256.hash("regent platform viewer\n" + [provider, user].joined(separator: "\n")))
  }
}

/// An app's permission and the account that it may use.
struct AppStanding: Sendable, Equatable {
  let who: AppRequestor
  let permission: PlatformPermission
  var signIn: SignInFacts?
  /// Why the account cannot be used, even if the box is signed in.
  var failure: String?
  /// Why the service lets this app not use the account.
  var refusal: String?
}
