import AccessEnabler
import CommandKit

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
  func signOut() async throws(CommandError) -> Bool
}

/// How an app stands.
struct AppStanding: Sendable, Equatable {
  let who: AppRequestor
  let permission: PlatformPermission
  var signIn: SignInFacts?
  /// Why the account cannot be used although somebody may be signed in.
  var failure: String?
}
