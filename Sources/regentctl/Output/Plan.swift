import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// All records of a service, with the ids of its rules.
struct ProvisioningState {
  var file = ProvisioningFile()
  var rules: [Entitlement] = []

  init(_ admin: AdminClient) async throws(AdminError) {
    file.requestors = try await admin.requestors()
    file.providers = try await admin.providers()
    for requestor in file.requestors {
      file.integrations += try await admin.integrations(of: requestor.id)
    }
    for provider in file.providers {
      if provider.hasAccounts { file.accounts += try await admin.accounts(of: provider.id) }
      rules += try await admin.entitlements(of: provider.id)
    }
    // The service assigns random ids, so the rules are sorted by content to make two exports equal.
    rules = rules.map { ($0, EntitlementRequest($0).object.description) }
      .sorted { $0.1 < $1.1 }.map(\.0)
    file.entitlements = rules.map(EntitlementRequest.init)
  }
}

/// The changes that make the records of a service match a file.
struct Plan {
  /// What happens to one record.
  enum Change: String {
    case add, set, remove

    var sign: String {
      switch self {
      case .add: "+"
      case .set: "~"
      case .remove: "-"
      }
    }
  }

  /// How a step of the plan is performed.
  enum Act {
    case call((AdminClient) async throws(AdminError) -> Void)
    /// Changes one account, sent with adjacent accounts in one call and one transaction.
    case account(AccountChange)
  }

  /// A change of one record.
  struct Step {
    let change: Change
    let kind: String
    let name: String
    var differences: [Difference] = []
    let act: Act

    /// Whether the step removes a record without a replacement.
    var isLoss: Bool { change == .remove && kind != Plan.replacedRule }

    var lines: [String] {
      ["\(change.sign) \(kind) \(name)"]
        + differences.map { difference in
          "    \(difference.member): \(Self.shown(difference.stored)) → \(Self.shown(difference.wanted))"
        }
    }

    var object: JSONObject {
      var object: JSONObject = [
        "change": .string(change.rawValue), "kind": .string(kind), "name": .string(name),
      ]
      if !differences.isEmpty { object["differences"] = .array(differences.map(\.json)) }
      return object
    }

    private static func shown(_ value: JSONValue?) -> String { value?.description ?? "none" }
  }

  /// The steps in their order: records are added after those that they refer to, and removed before them.
  private(set) var steps: [Step] = []
  /// The number of records that need no change.
  private(set) var unchanged = 0

  /// Compares the records; `withoutPassword` are existing accounts without a password, which get the hash from the
  /// file.
  init(from state: ProvisioningState, to wanted: ProvisioningFile, withoutPassword: Set<[UInt8]>) {
    let there = state.file
    write(there.requestors, wanted.requestors, "requestor") { one in
      { admin, patch throws(AdminError) in _ = try await admin.add(one.id, patch) }
    } set: { one in
      { admin, patch throws(AdminError) in _ = try await admin.set(one.id, patch) }
    }
    write(there.providers, wanted.providers, "provider") { one in
      { admin, patch throws(AdminError) in _ = try await admin.add(one.id, patch) }
    } set: { one in
      { admin, patch throws(AdminError) in _ = try await admin.set(one.id, patch) }
    }
    writeAccounts(there.accounts, wanted, withoutPassword)
    let integrate: (Integration) -> Write<Integration> = { one in
      { admin, patch throws(AdminError) in
        _ = try await admin.integrate(one.requestor, one.provider, patch)
      }
    }
    write(there.integrations, wanted.integrations, "integration", integrate, set: integrate)
    writeRules(state.rules, wanted.entitlements)
    remove(there.integrations, wanted.integrations, "integration") {
      admin, one throws(AdminError) in
      try await admin.removeIntegration(one.requestor, one.provider)
    }
    remove(there.accounts, wanted.accounts, "account") { admin, one throws(AdminError) in
      try await admin.remove(one.provider, one.name)
    }
    remove(there.providers, wanted.providers, "provider") { admin, one throws(AdminError) in
      try await admin.remove(one.id)
    }
    remove(there.requestors, wanted.requestors, "requestor") { admin, one throws(AdminError) in
      try await admin.remove(one.id)
    }
  }

  /// A summary by change and kind, such as `added 7 accounts, 1 provider; removed 1 rule`.
  var summary: String? {
    let words: [(change: Change, word: String)] = [
      (.add, "added"), (.set, "changed"), (.remove, "removed"),
    ]
    let parts = words.compactMap { change, word -> String? in
      let kinds = steps.filter { $0.change == change }.map(\.kind)
      guard !kinds.isEmpty else { return nil }
      var counts: [(kind: String, count: Int)] = []
      for kind in kinds {
        if let place = counts.firstIndex(where: { $0.kind == kind }) {
          counts[place].count += 1
        } else {
          counts.append((kind, 1))
        }
      }
      return "\(word) " + counts.map { counted($0.count, $0.kind) }.joined(separator: ", ")
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// Drops the removals of these sections, except of rules that contradict the file.
  mutating func dropRemovals(of sections: Set<ProvisioningFile.Section>) {
    let kinds = Set(
      sections.map { section in
        switch section {
        case .requestors: "requestor"
        case .providers: "provider"
        case .integrations: "integration"
        case .accounts: "account"
        case .entitlements: "rule"
        }
      })
    steps.removeAll { $0.isLoss && kinds.contains($0.kind) }
  }
}

// MARK: - Steps

extension Plan {
  typealias Write<Record: OperatorRecord> =
    (AdminClient, Patch<Record>) async throws(AdminError) -> Void
  fileprivate static let replacedRule = "contrary rule"

  private mutating func write<Record: OperatorRecord>(
    _ there: [Record], _ wanted: [Record], _ kind: String, _ add: (Record) -> Write<Record>,
    set: (Record) -> Write<Record>
  ) {
    let stored = Dictionary(there.map { ($0.keyBytes, $0) }) { first, _ in first }
    for record in wanted {
      guard let old = stored[record.keyBytes] else {
        let write = add(record)
        steps.append(
          Step(
            change: .add, kind: kind, name: record.keyText,
            act: .call { admin throws(AdminError) in try await write(admin, Patch(record)) }))
        continue
      }
      let differences = old.differences(to: record)
      guard !differences.isEmpty else {
        unchanged += 1
        continue
      }
      let (write, change) = (set(record), Patch<Record>(differences))
      steps.append(
        Step(
          change: .set, kind: kind, name: record.keyText, differences: differences,
          act: .call { admin throws(AdminError) in try await write(admin, change) }))
    }
  }

  private mutating func writeAccounts(
    _ there: [Account], _ wanted: ProvisioningFile, _ withoutPassword: Set<[UInt8]>
  ) {
    let stored = Dictionary(there.map { ($0.keyBytes, $0) }) { first, _ in first }
    for account in wanted.accounts {
      let key = account.keyBytes
      let hash = wanted.passwordHashes[key]
      guard let old = stored[key] else {
        let change = AccountChange(isNew: true, Patch(account), passwordHash: hash)
        steps.append(Step(change: .add, kind: "account", name: account.keyText, act: .account(change)))
        continue
      }
      var differences = old.differences(to: account)
      var patch = Patch<Account>(differences)
      patch.set(.provider, .string(account.provider.text))
      patch.set(.name, .string(account.name.text))
      if withoutPassword.contains(key) {
        // The password hash itself is not printed.
        differences.append(Difference(member: "password", stored: nil, wanted: "(from the file)"))
      }
      guard !differences.isEmpty else {
        unchanged += 1
        continue
      }
      let change = AccountChange(isNew: false, patch, passwordHash: hash)
      steps.append(
        Step(
          change: .set, kind: "account", name: account.keyText, differences: differences, act: .account(change)))
    }
  }

  private mutating func remove<Record: OperatorRecord>(
    _ there: [Record], _ wanted: [Record], _ kind: String,
    _ remove: @escaping (AdminClient, Record) async throws(AdminError) -> Void
  ) {
    let kept = Set(wanted.map { $0.keyBytes })
    for record in there where !kept.contains(record.keyBytes) {
      steps.append(
        Step(
          change: .remove, kind: kind, name: record.keyText,
          act: .call { admin throws(AdminError) in
            do throws(AdminError) {
              try await remove(admin, record)
            } catch {
              // The record was removed together with another record that it belongs to.
              guard error.code == .notFound else { throw error }
            }
          }))
    }
  }

  /// Entitlement rules have no key to compare: a rule with another effect for the same titles and viewers is removed
  /// first.
  private mutating func writeRules(_ there: [Entitlement], _ wanted: [EntitlementRequest]) {
    let kept = Set(wanted)
    for rule in there where !kept.contains(EntitlementRequest(rule)) {
      let isContrary = wanted.contains { $0.isAboutSame(as: EntitlementRequest(rule)) }
      steps.append(
        Step(
          change: .remove, kind: isContrary ? Self.replacedRule : "rule",
          name: EntitlementRequest(rule).title,
          act: .call { admin throws(AdminError) in
            do throws(AdminError) {
              try await admin.remove(rule.id)
            } catch {
              guard error.code == .notFound else { throw error }
            }
          }))
    }
    let stored = Set(there.map(EntitlementRequest.init))
    for rule in wanted {
      guard !stored.contains(rule) else {
        unchanged += 1
        continue
      }
      steps.append(
        Step(
          change: .add, kind: "rule", name: rule.title,
          act: .call { admin throws(AdminError) in _ = try await admin.add(rule) }))
    }
  }
}

extension Patch {
  /// The patch that makes a record match the file.
  fileprivate init(_ differences: [Difference]) {
    self.init()
    for difference in differences {
      guard let member = Record.Member(rawValue: difference.member) else { continue }
      set(member, difference.patchValue)
    }
  }
}

extension Difference {
  /// The value for the patch; profiles that must be removed are set to null.
  fileprivate var patchValue: JSONValue {
    guard case .object(var wanted)? = wanted ?? (stored?.object == nil ? nil : .object([:])) else {
      return self.wanted ?? .null
    }
    for member in stored?.object?.members ?? [] where wanted[member.name] == nil {
      wanted[member.name] = .null
    }
    for member in wanted.members {
      guard case .object(var inner) = member.value, let old = stored?[member.name]?.object else {
        continue
      }
      for other in old.members where inner[other.name] == nil { inner[other.name] = .null }
      wanted[member.name] = .object(inner)
    }
    return .object(wanted)
  }
}

extension EntitlementRequest {
  fileprivate var title: String {
    let who =
      switch scope {
      case .everybody: "everybody"
      case .household(let household): "household \(household)"
      case .account(let account): "account \(account)"
      }
    return "\(provider): \(effect == .allow ? "allow" : "deny") \(pattern) for \(who)"
  }
}
