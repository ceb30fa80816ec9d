import RegentJSON
import RegentPairing
package import PairingStore
import RegentSQL

extension Tables {
  package static let authentications = Table<AuthenticationRecord>(
    "authentication", version: 2, signer: .rowPair,
    [
      .text("id"), .text("requestor"), .text("provider"), .text("account"), .text("household"),
      .text("profile"), .text("source"), .number("issued"), .number("expires"), .bytes("device"),
      .bytes("device_hash"), .bytes("identity"), .text("registration"), .text("public_key"),
      .text("about"), .text("parent"), .text("app"),
    ]
  ) { record, vault in
    let one = record.authentication
    return [
      .text(one.id.text), .text(one.requestor.text), .text(one.viewer.provider.text),
      .optional(one.viewer.account?.text), .optional(one.household?.text),
      .optional(one.profile?.text), .text(one.source.rawValue), .integer(one.issued.milliseconds),
      .integer(one.expires.milliseconds),
      vault.seal(Array(record.device.text.utf8), "authentication.device", of: one.id.text),
      .blob(record.deviceHash.bytes), .optional(record.identity?.bytes),
      .optional(record.registration?.text), .text(record.rowKey.text), record.about.column,
      .optional(one.parent?.id.text), .optional(one.parent?.app),
    ]
  } decode: { fields, vault throws(UnreadableRow) in
    let id: AuthenticationID = try fields.name()
    let (requestor, viewer): (RequestorID, Viewer) = (try fields.name(), try fields.viewer())
    let (household, profile): (HouseholdID?, ProfileName?) = (try fields.optionalName(), try fields.optionalName())
    let source: AuthenticationSource = try fields.choice()
    let (issued, expires) = (try fields.instant(), try fields.instant())
    let device = try sealedDevice(&fields, vault, "authentication.device", id.text)
    let (deviceHash, identity): (DeviceHash, IdentityHash?) = (try fields.hash(), try fields.optionalHash())
    let (registration, rowKey): (RegistrationID?, PublicKey) = (try fields.optionalName(), try fields.name())
    let about = try DeviceDescription(column: fields.json())
    let parentID: AuthenticationID? = try fields.optionalName()
    let app = try fields.optionalText()
    let parent = try parentID.map { id throws(UnreadableRow) in ParentSignIn(id, app: try present(app)) }
    return AuthenticationRecord(
      authentication: Authentication(
        id: id, requestor: requestor, viewer: viewer, household: household, profile: profile, source: source,
        issued: issued, expires: expires, parent: parent),
      device: device, deviceHash: deviceHash, identity: identity, registration: registration, rowKey: rowKey,
      about: about)
  }

  static let permits = Table<PermitRecord>(
    "permit", signer: .rowPair, key: 2,
    [
      .text("authentication"), .longText("resource"), .number("issued"), .number("expires"),
      .text("public_key"),
    ]
  ) { record, _ in
    [
      .text(record.permit.authentication.text), .text(PermitRow.name(of: record.permit.resource)),
      .integer(record.permit.issued.milliseconds), .integer(record.permit.expires.milliseconds),
      .text(record.rowKey.text),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let permit = Permit(
      authentication: try fields.name(), resource: try fields.name(),
      issued: try fields.instant(), expires: try fields.instant())
    return PermitRecord(permit: permit, rowKey: try fields.name())
  }

  static let passes = Table<TemporaryPassRecord>(
    "temporary_pass", key: 4,
    [
      .text("requestor"), .text("provider"), .bytes("device_hash"), .bytes("identity"),
      .number("started"), .text("resources"),
    ]
  ) { pass, _ in
    [
      .text(pass.requestor.text), .text(pass.provider.text), .blob(pass.device.bytes),
      .blob(pass.identity?.bytes ?? []), .optional(pass.use.started?.milliseconds),
      JSONValue.list(pass.use.resources.map(\.text).sorted()).column,
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let requestor: RequestorID = try fields.name()
    let provider: ProviderID = try fields.name()
    let device: DeviceHash = try fields.hash()
    let identity = try fields.bytes()
    let started = try fields.optionalInstant()
    var resources: Set<ResourceID> = []
    for text in try fields.json().texts() { resources.insert(try present(ResourceID(text)).storedFromRow) }
    return TemporaryPassRecord(
      requestor: requestor, provider: provider, device: device,
      identity: identity.isEmpty ? nil : try present(IdentityHash(identity)),
      use: TemporaryPassUse(started: started, resources: resources))
  }

  static let sessions = Table<SessionRecord>(
    "session",
    [
      .text("id"), .bytes("token"), .text("provider"), .text("account"), .number("started"),
      .number("last_used"), .number("expires"), .text("user_agent"), .text("address"),
    ]
  ) { session, _ in
    [
      .text(session.id.text), .blob(session.token.bytes), .text(session.viewer.provider.text),
      .optional(session.viewer.account?.text), .integer(session.started.milliseconds),
      .integer(session.lastUsed.milliseconds), .integer(session.expires.milliseconds),
      .optional(session.userAgent), .optional(session.address),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let id: SessionID = try fields.name()
    let token: TokenHash = try fields.hash()
    let viewer = try fields.viewer()
    let started = try fields.instant()
    let lastUsed = try fields.instant()
    // Skips `expires`: it is computed from the two values before it and stored only for an index.
    _ = try fields.instant()
    return SessionRecord(
      id: id, token: token, viewer: viewer, started: started, lastUsed: lastUsed,
      userAgent: try fields.optionalText(), address: try fields.optionalText())
  }
}
