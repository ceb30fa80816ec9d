import RegentEncodings
import RegentJSON
import RegentPairing
package import PairingStore
import RegentSQL

extension Tables {
  package static let registrations = Table<RegistrationRecord>(
    "registration", signer: .rowPair,
    [
      .text("id"), .bytes("code"), .text("requestor"), .bytes("device"), .bytes("device_hash"),
      .text("public_key"), .text("preselected"), .text("profile"), .text("about"),
      .number("issued"), .number("expires"), .number("match_number"), .text("match_choices"),
    ] + FlowColumns.columns
  ) { record, vault in
    let match = record.flow.match
    return [
      .text(record.id.text), .blob(record.code.bytes), .text(record.requestor.text),
      vault.seal(Array(record.device.text.utf8), "registration.device", of: record.id.text),
      .blob(record.deviceHash.bytes), .text(record.rowKey.text),
      .optional(record.preselected?.text), .optional(record.profile?.text), record.about.column,
      .integer(record.flow.issued.milliseconds), .integer(record.flow.expires.milliseconds),
      .optional(match.map { Int64($0.number) }), .optional(match?.olderChoices),
    ] + FlowColumns(record.flow).values
  } decode: { fields, vault throws(UnreadableRow) in
    let id: RegistrationID = try fields.name()
    return RegistrationRecord(
      id: id, code: try fields.hash(), requestor: try fields.name(),
      device: try sealedDevice(&fields, vault, "registration.device", id.text),
      deviceHash: try fields.hash(), rowKey: try fields.name(),
      preselected: try fields.optionalName(), profile: try fields.optionalName(),
      about: try DeviceDescription(column: fields.json()), flow: try PairingFlow(&fields))
  }

  static func sealedDevice(
    _ fields: inout Fields, _ vault: Vault, _ column: String, _ row: String
  ) throws(UnreadableRow) -> DeviceID {
    let bytes = try vault.open(fields.bytes(), column, of: row)
    return try present(String(validating: bytes, as: UTF8.self).flatMap { DeviceID($0) })
  }
}

/// The columns that hold the state of a registration code.
struct FlowColumns {
  static let columns: [Column] = [
    .text("state"), .number("sequence"), .text("session"), .text("operator"), .text("provider"),
    .text("account"), .text("authentication"), .text("reason"), .number("moment"),
    .number("delivered"),
  ]

  let values: [SQLValue]

  init(_ flow: PairingFlow) {
    var session: String?
    var name: String?
    var viewer: Viewer?
    var authentication: String?
    var reason: String?
    var moment: Instant?
    var delivered: Instant?
    switch flow.state {
    case .offered, .opened, .expired, .withdrawn: break
    case .claimed(let lease):
      (session, viewer, moment) = (lease.claimer.session.text, lease.claimer.viewer, lease.until)
    case .denied(let denial): (reason, moment) = (denial.reason.rawValue, denial.at)
    case .approved, .delivered:
      if let approval = flow.state.approval {
        (viewer, moment) = (approval.viewer, approval.at)
        authentication = approval.authentication.text
        switch approval.by {
        case .session(let one): session = one.text
        case .operator(let one): name = one.text
        }
      }
      if case .delivered(_, let at) = flow.state { delivered = at }
    }
    values = [
      .text(flow.state.status.rawValue), .integer(Int64(flow.sequence)), .optional(session),
      .optional(name), .optional(viewer?.provider.text), .optional(viewer?.account?.text),
      .optional(authentication), .optional(reason), .optional(moment?.milliseconds),
      .optional(delivered?.milliseconds),
    ]
  }

  static let change = Tables.registrations.change(of: columns.map(\.name))
}

extension PairingFlow {
  init(_ fields: inout Fields) throws(UnreadableRow) {
    let issued = try fields.instant()
    let expires = try fields.instant()
    let match = try NumberMatch(&fields)
    let status: PairingStatus = try fields.choice()
    let sequence = try present(Int(exactly: fields.number()))
    let session: SessionID? = try fields.optionalName()
    let name: OperatorName? = try fields.optionalName()
    let provider: ProviderID? = try fields.optionalName()
    let account: AccountName? = try fields.optionalName()
    let authentication: AuthenticationID? = try fields.optionalName()
    let reason = try fields.optionalText()
    let moment = try fields.optionalInstant()
    let delivered = try fields.optionalInstant()
    let viewer = provider.map { Viewer(provider: $0, account: account) }
    let state: PairingState
    switch status {
    case .offered: state = .offered
    case .opened: state = .opened
    case .expired: state = .expired
    case .withdrawn: state = .withdrawn
    case .denied:
      state = .denied(
        Denial(
          reason: try present(reason.flatMap(Denial.Reason.init(rawValue:))),
          at: try present(moment)))
    case .claimed:
      let claimer = Claimer(session: try present(session), viewer: try present(viewer))
      state = .claimed(ClaimLease(claimer: claimer, until: try present(moment)))
    case .approved, .delivered:
      let by = session.map { Approver.session($0) } ?? name.map { Approver.operator($0) }
      let approval = Approval(
        viewer: try present(viewer), authentication: try present(authentication),
        by: try present(by), at: try present(moment))
      state =
        status == .approved ? .approved(approval) : .delivered(approval, at: try present(delivered))
    }
    self.init(issued: issued, expires: expires, match: match, state: state, sequence: sequence)
  }
}

extension NumberMatch {
  fileprivate init?(_ fields: inout Fields) throws(UnreadableRow) {
    let number = try fields.optionalNumber()
    _ = try fields.optionalText()
    guard let number else { return nil }
    self = try present(NumberMatch(number: try present(Int(exactly: number))))
  }

  /// Three numbers to choose from, for nodes of an earlier version during an upgrade.
  ///
  /// Without this value such a node would not ask the viewer for a number. The same three numbers are derived whichever
  /// of them is the right one, and they are in ascending order, so they do not reveal the right one.
  fileprivate var olderChoices: String {
    let least = 10 + (number - 10) % 30
    return "[\(least),\(least + 30),\(least + 60)]"
  }
}

extension JSONWriter {
  fileprivate mutating func said(_ name: String, _ text: String?) {
    if let text { member(name, text) }
  }
}

extension DeviceDescription {
  /// The device description as JSON text, without unset fields.
  var column: SQLValue {
    // Writes the JSON without building a tree first, because every new code needs it and this is faster.
    let bytes = JSONWriter.bytes { json in
      json.object { json in
        json.said("name", name)
        json.said("information", information)
        json.said("userAgent", userAgent)
        json.said("address", address)
        json.said("visitorID", visitorID)
        json.said("deviceType", older.deviceType)
        json.said("deviceUser", older.deviceUser)
        json.said("appID", older.appID)
        json.said("appVersion", older.appVersion)
        json.said("registrationURL", older.registrationURL)
        json.said("data", data)
        json.said("options", options)
        json.said("owner", owner)
        if let asked { json.member("asked", .object(asked.column)) }
      }
    }
    return .text(String(decoding: bytes, as: UTF8.self))
  }

  init(column: JSONValue) throws(UnreadableRow) {
    self.init(
      name: try column.optionalText("name"), information: try column.optionalText("information"),
      userAgent: try column.optionalText("userAgent"), address: try column.optionalText("address"),
      visitorID: try column.optionalText("visitorID"),
      older: OlderDeviceFields(
        deviceType: try column.optionalText("deviceType"),
        deviceUser: try column.optionalText("deviceUser"), appID: try column.optionalText("appID"),
        appVersion: try column.optionalText("appVersion"),
        registrationURL: try column.optionalText("registrationURL")),
      data: try column.optionalText("data"), options: try column.optionalText("options"),
      asked: try column["asked"].map { value throws(UnreadableRow) in try AskedByClient(column: value) },
      owner: try column.optionalText("owner"))
  }
}

extension AskedByClient {
  fileprivate var column: JSONObject {
    var object: JSONObject = ["client": .string(client.text), "scope": .string(scope)]
    object["challenge"] = challenge.map { .string($0) }
    object["thumbprint"] = thumbprint.map { .string($0) }
    object["secret"] = secret.map { .string(Hex.encode($0.bytes)) }
    object["keys"] = keys.map { .string($0) }
    if isSelfNamed { object["selfNamed"] = true }
    if isOperators { object["operators"] = true }
    return object
  }

  fileprivate init(column: JSONValue) throws(UnreadableRow) {
    let secret = try column.optionalText("secret").map { text throws(UnreadableRow) in
      try present((try? Hex.decode(text)).flatMap { TokenHash($0) })
    }
    self.init(
      client: try present(ClientID(column.text("client"))), scope: try column.text("scope"),
      challenge: try column.optionalText("challenge"), thumbprint: try column.optionalText("thumbprint"),
      secret: secret, keys: try column.optionalText("keys"), isSelfNamed: column["selfNamed"]?.bool ?? false,
      isOperators: column["operators"]?.bool ?? false)
  }
}
