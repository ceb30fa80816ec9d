import RegentEncodings
import RegentJSON
import RegentPairing
package import PairingStore
import RegentSQL

extension Tables {
  package static let registrations = Table<RegistrationRecord>(
    "registration", signer: .rowPair, unique: ["code"],
    indexes: [
      Index("claimed", on: "session", where: "state = 'claimed'"), Index("age", on: "expires, state"),
      // Every new code is written to each index, so there are few. The condition avoids `IN (…)`, for which SQLite
      // built a table of the three states for every row and index.
      Index("waiting", on: "device_hash", where: "state = 'offered' OR state = 'opened' OR state = 'claimed'"),
    ],
    .column("id", \.id), .column("code", \.code), .column("requestor", \.requestor), .sealed("device", \.device),
    .column("device_hash", \.deviceHash), .column("public_key", \.rowKey), .column("preselected", \.preselected),
    .column("profile", \.profile), .column("about", \.about), .column("issued", \.flow.issued),
    .column("expires", \.flow.expires),
    .column("match_number", \.flow.matchNumber) { @Sendable number throws(UnreadableRow) in
      try number.map { number throws(UnreadableRow) in try present(NumberMatch(number: number)) }
    },
    .column("match_choices", \.flow.olderChoices), .columns(FlowColumns.columns, of: \.flow.columns)
  ) {
    id, code, requestor, device, deviceHash, rowKey, preselected, profile, about, issued, expires, match, _, state
      throws(UnreadableRow) in
    RegistrationRecord(
      id: id, code: code, requestor: requestor, device: device, deviceHash: deviceHash, rowKey: rowKey,
      preselected: preselected, profile: profile, about: about,
      flow: PairingFlow(
        issued: issued, expires: expires, match: match, state: try state.state, sequence: state.sequence))
  }
}

/// The columns that hold the state of a registration code.
struct FlowColumns: Sendable {
  let status: PairingStatus
  let sequence: Int
  var session: SessionID?
  var name: OperatorName?
  var provider: ProviderID?
  var account: AccountName?
  var authentication: AuthenticationID?
  var reason: Denial.Reason?
  var moment: Instant?
  var delivered: Instant?

  static let columns = Columns<FlowColumns, FlowColumns>(
    .column("state", \.status), .column("sequence", \.sequence), .column("session", \.session),
    .column("operator", \.name), .column("provider", \.provider), .column("account", \.account),
    .column("authentication", \.authentication), .column("reason", \.reason), .column("moment", \.moment),
    .column("delivered", \.delivered), make: FlowColumns.init)

  static let change = Tables.registrations.change(of: columns.list.map(\.name))
}

extension FlowColumns {
  init(_ flow: PairingFlow) {
    self.init(status: flow.state.status, sequence: flow.sequence)
    switch flow.state {
    case .offered, .opened, .expired, .withdrawn: break
    case .claimed(let lease):
      (session, viewer, moment) = (lease.claimer.session, lease.claimer.viewer, lease.until)
    case .denied(let denial): (reason, moment) = (denial.reason, denial.at)
    case .approved(let approval): set(approval)
    case .delivered(let approval, let at):
      set(approval)
      delivered = at
    }
  }

  private mutating func set(_ approval: Approval) {
    (viewer, moment, authentication) = (approval.viewer, approval.at, approval.authentication)
    switch approval.by {
    case .session(let one): session = one
    case .operator(let one): name = one
    }
  }

  private var viewer: Viewer? {
    get { provider.map { Viewer(provider: $0, account: account) } }
    set { (provider, account) = (newValue?.provider, newValue?.account) }
  }

  var values: [SQLValue] { FlowColumns.columns.values(of: self) }

  var state: PairingState {
    get throws(UnreadableRow) {
      switch status {
      case .offered: return .offered
      case .opened: return .opened
      case .expired: return .expired
      case .withdrawn: return .withdrawn
      case .denied: return .denied(Denial(reason: try present(reason), at: try present(moment)))
      case .claimed:
        let claimer = Claimer(session: try present(session), viewer: try present(viewer))
        return .claimed(ClaimLease(claimer: claimer, until: try present(moment)))
      case .approved: return .approved(try approval)
      case .delivered: return .delivered(try approval, at: try present(delivered))
      }
    }
  }

  private var approval: Approval {
    get throws(UnreadableRow) {
      let by = session.map { Approver.session($0) } ?? name.map { Approver.operator($0) }
      return Approval(
        viewer: try present(viewer), authentication: try present(authentication), by: try present(by),
        at: try present(moment))
    }
  }
}

extension PairingFlow {
  fileprivate var columns: FlowColumns { FlowColumns(self) }
  fileprivate var matchNumber: Int? { match?.number }
  fileprivate var olderChoices: String? { match?.olderChoices }
}

extension NumberMatch {
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

extension DeviceDescription: ColumnValue {
  static var kind: Column.Kind { .text }

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

  init(column: SQLValue) throws(UnreadableRow) {
    let column = try JSONValue(column: column)
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
