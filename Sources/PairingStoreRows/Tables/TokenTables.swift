import RegentJSON
import RegentPairing
package import PairingStore
import RegentSQL

extension Tables {
  package static let authentications = Table<AuthenticationRecord>(
    "authentication", version: 2, signer: .rowPair, unique: ["device_hash, requestor"],
    indexes: [
      Index("requestor", on: "requestor, id"), Index("viewer", on: "provider, account, id"),
      Index("public_key", on: "public_key"), Index("expires", on: "expires"),
      Index("parent", on: "parent", where: "parent IS NOT NULL"),
    ],
    .column("id", \.authentication.id), .column("requestor", \.authentication.requestor),
    .viewer(\.authentication.viewer), .column("household", \.authentication.household),
    .column("profile", \.authentication.profile), .column("source", \.authentication.source),
    .column("issued", \.authentication.issued), .column("expires", \.authentication.expires),
    .sealed("device", \.device), .column("device_hash", \.deviceHash), .column("identity", \.identity),
    .column("registration", \.registration), .column("public_key", \.rowKey), .column("about", \.about),
    .column("parent", \.authentication.parentID), .column("app", \.authentication.parentApp)
  ) {
    id, requestor, viewer, household, profile, source, issued, expires, device, deviceHash, identity, registration,
    rowKey, about, parentID, app throws(UnreadableRow) in
    var parent: ParentSignIn?
    if let parentID { parent = ParentSignIn(parentID, app: try present(app)) }
    return AuthenticationRecord(
      authentication: Authentication(
        id: id, requestor: requestor, viewer: viewer, household: household, profile: profile, source: source,
        issued: issued, expires: expires, parent: parent),
      device: device, deviceHash: deviceHash, identity: identity, registration: registration, rowKey: rowKey,
      about: about)
  }

  static let permits = Table<PermitRecord>(
    "permit", signer: .rowPair, key: 2, indexes: [Index("expires", on: "expires")],
    .column("authentication", \.permit.authentication),
    .column("resource", isLong: true, \.resourceColumn) { @Sendable name throws(UnreadableRow) in
      try present(ResourceID(name))
    },
    .column("issued", \.permit.issued), .column("expires", \.permit.expires), .column("public_key", \.rowKey)
  ) { authentication, resource, issued, expires, rowKey in
    PermitRecord(
      permit: Permit(authentication: authentication, resource: resource, issued: issued, expires: expires),
      rowKey: rowKey)
  }

  static let passes = Table<TemporaryPassRecord>(
    "temporary_pass", key: 4,
    indexes: [Index("identity", on: "requestor, provider, identity"), Index("provider", on: "provider")],
    .column("requestor", \.requestor), .column("provider", \.provider),
    .column("device_hash", \.device),
    .column("identity", \.identityColumn) { @Sendable bytes throws(UnreadableRow) in
      bytes.isEmpty ? nil : try present(IdentityHash(bytes))
    },
    .column("started", \.use.started),
    .column("resources", \.resourcesColumn) { @Sendable json throws(UnreadableRow) in
      var resources: Set<ResourceID> = []
      for text in try json.texts() { resources.insert(try present(ResourceID(text)).storedFromRow) }
      return resources
    }
  ) { requestor, provider, device, identity, started, resources in
    TemporaryPassRecord(
      requestor: requestor, provider: provider, device: device, identity: identity,
      use: TemporaryPassUse(started: started, resources: resources))
  }

  static let sessions = Table<SessionRecord>(
    "session",
    indexes: [Index("token", on: "token"), Index("viewer", on: "provider, account"), Index("expires", on: "expires")],
    .column("id", \.id), .column("token", \.token), .viewer(\.viewer), .column("started", \.started),
    .column("last_used", \.lastUsed), .column("expires", \.expires), .column("user_agent", \.userAgent),
    .column("address", \.address)
    // `expires` is computed from the two values before it, and stored only for an index.
  ) { id, token, viewer, started, lastUsed, _, userAgent, address in
    SessionRecord(
      id: id, token: token, viewer: viewer, started: started, lastUsed: lastUsed, userAgent: userAgent,
      address: address)
  }
}

extension PermitRecord {
  fileprivate var resourceColumn: String { PermitRow.name(of: permit.resource) }
}

extension TemporaryPassRecord {
  /// Empty instead of NULL, because the column is part of the primary key.
  fileprivate var identityColumn: [UInt8] { identity?.bytes ?? [] }
  fileprivate var resourcesColumn: JSONValue { .list(use.resources.map(\.text).sorted()) }
}

extension Authentication {
  fileprivate var parentID: AuthenticationID? { parent?.id }
  fileprivate var parentApp: String? { parent?.app }
}
