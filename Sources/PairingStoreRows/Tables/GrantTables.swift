import RegentPairing
package import PairingStore
import RegentSQL

extension Tables {
  static let oauthClients = Table<OAuthClientRecord>(
    "oauth_client", version: 2, known: { $0.oauthClients }, .column("id", \.id), .column("requestor", \.requestor),
    .column("origin", \.origin), .column("application", \.application), .column("name", \.name),
    .column("secret", \.secret), .column("registration_token", \.registrationToken), .column("metadata", \.metadata),
    .column("audience", \.audience), .column("created", \.created), .column("paired", \.paired),
    make: OAuthClientRecord.init)

  static let clientInvitations = Table<ClientInvitationRecord>(
    "client_invitation", .column("id", \.id), .column("requestor", \.requestor), .column("token", \.token),
    .column("uses", \.uses), .column("created", \.created), .column("expires", \.expires), .column("used", \.used),
    make: ClientInvitationRecord.init)

  package static let grants = Table<GrantRecord>(
    "oauth_grant", signer: .rowPair, .column("id", \.id), .column("client", \.client),
    .column("authentication", \.authentication), .column("scope", \.scope), .column("thumbprint", \.thumbprint),
    .column("created", \.created), .column("idle", \.idle), .column("ends", \.ends), .column("public_key", \.rowKey),
    .column("generation", \.generation), .column("rotated", \.rotated), .sealed("answer", \.answer),
    make: GrantRecord.init)
}
