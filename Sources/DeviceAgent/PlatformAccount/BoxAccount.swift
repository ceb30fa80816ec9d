import AccessEnabler
import CommandKit
import RegentCryptography
import RegentEncodings

/// The box's own sign-in at the box maker's requestor: the platform account.
protocol BoxAccount: Sendable {
  /// Who is signed in, as far as this box knows; never the network.
  func kept() async throws(CommandError) -> SignInFacts?
  /// What the platform's picker lists.
  func picker() async throws(CommandError) -> [ProviderEntry]
  /// The box's word about its sign-in, in answer to a service's profile request.
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> String
  /// Tells the service what the viewer decided, or that an app asks.
  func tell(_ decision: BoxDecision) async throws(CommandError)
  /// What the service says was decided, here and on "my screens"; held for so long while it is what the tag names.
  ///
  /// - Returns: nil when nothing is new.
  func decisions(unless tag: String?, wait: Duration) async throws(CommandError) -> ServiceDecisions?
  /// Signs the box out, here and at the service.
  ///
  /// - Throws: when it is signed out, and may not be after a restart, as well.
  func signOut() async throws(CommandError) -> SignOutEnd
  /// Asks the service whether it knows the sign-in still; what it does not know ends here.
  ///
  /// - Returns: whether it answered.
  func lookAgain() async -> Bool
}

extension SignInFacts {
  /// Tells one viewer from another, over sign-ins.
  var viewerMark: String {
    Hex.encode(SHA256.hash("regent platform viewer\n" + [provider, user].joined(separator: "\n")))
  }
}

/// How an app stands.
struct AppStanding: Sendable, Equatable {
  let who: AppRequestor
  let permission: PlatformPermission
  var signIn: SignInFacts?
  /// Why the account cannot be used although somebody may be signed in.
  var failure: String?
}
