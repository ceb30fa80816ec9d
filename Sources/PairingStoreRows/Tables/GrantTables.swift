import RegentPairing
package import PairingStore
import RegentSQL

extension Tables {
  static let oauthClients = Table<OAuthClientRecord>(
    "oauth_client", version: 2, known: { $0.oauthClients },
    // With the second index, a database counts the clients of an origin, and finds the oldest one that never paired,
    // without reading a row.
    indexes: [Index("requestor", on: "requestor, id"), Index("age", on: "origin, requestor, paired, created")],
    .column("id", \.id), .column("requestor", \.requestor),
    .column("origin", \.origin), .column("application", \.application), .column("name", \.name),
    .column("secret", \.secret), .column("registration_token", \.registrationToken), .column("metadata", \.metadata),
    .column("audience", \.audience), .column("created", \.created), .column("paired", \.paired),
    make: OAuthClientRecord.init)

  static let clientInvitations = Table<ClientInvitationRecord>(
    "client_invitation", .column("id", \.id), .column("requestor", \.requestor), .column("token", \.token),
    .column("uses", \.uses), .column("created", \.created), .column("expires", \.expires), .column("used", \.used),
    make: ClientInvitationRecord.init)

  package static let grants = Table<GrantRecord>(
    // A sign-in has at most one grant, because a code is redeemed once.
    "oauth_grant", signer: .rowPair, unique: ["authentication"], indexes: [Index("client", on: "client, id")],
    .column("id", \.id), .column("client", \.client),
    .column("authentication", \.authentication), .column("scope", \.scope), .column("thumbprint", \.thumbprint),
    .column("created", \.created), .column("idle", \.idle), .column("ends", \.ends), .column("public_key", \.rowKey),
    .column("generation", \.generation), .column("rotated", \.rotated), .sealed("answer", \.answer),
    make: GrantRecord.init)
}
