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
  /// Tells the service what the viewer decided; until it is told the answers' own short life is the bound.
  func decided(_ permission: PlatformPermission, _ who: AppRequestor) async
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
