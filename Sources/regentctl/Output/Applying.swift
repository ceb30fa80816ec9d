import Administration
import CommandKit
import RegentPairing
import RegentPlatform

// Checks and performs a plan, so that after an error the operator knows which changes were made.

extension ProvisioningFile {
  /// Rejects a file with references to records that are neither in the file nor in the service, before anything is
  /// changed.
  ///
  /// - Parameters:
  ///   - there: the records of the service.
  ///   - prunes: whether records that the file does not have are removed; they then do not count as existing.
  ///   - path: the file's name for the message.
  /// - Throws: `CommandError` that names the place in the file.
  func checkNames(beside there: ProvisioningFile, prunes: Bool, in path: String)
    throws(CommandError)
  {
    let (prunesRequestors, prunesProviders) = (
      prunes && sections.contains(.requestors), prunes && sections.contains(.providers)
    )
    let requestors = Set(requestors.map(\.id) + (prunesRequestors ? [] : there.requestors.map(\.id)))
    let providers = Set(providers.map(\.id) + (prunesProviders ? [] : there.providers.map(\.id)))
    func refuse(_ place: String, _ what: String, _ name: String) -> CommandError {
      let isPruned = what == "provider" ? prunesProviders : prunesRequestors
      let absence = isPruned ? "is not in the file" : "is neither in the file nor in the service"
      return CommandError(
        "\(path): \(place) names the \(what) \(name), which \(absence)",
        hint: "add it to the section \"\(what)s\" of the file, or check the spelling: regentctl \(what) list")
    }
    for (place, one) in integrations.enumerated() {
      guard requestors.contains(one.requestor) else {
        throw refuse("integrations[\(place)]", "requestor", one.requestor.text)
      }
      guard providers.contains(one.provider) else {
        throw refuse("integrations[\(place)]", "provider", one.provider.text)
      }
    }
    for (place, one) in accounts.enumerated() where !providers.contains(one.provider) {
      throw refuse("accounts[\(place)]", "provider", one.provider.text)
    }
    for (place, one) in entitlements.enumerated() where !providers.contains(one.provider) {
      throw refuse("entitlements[\(place)]", "provider", one.provider.text)
    }
  }
}

extension ProvisioningFile {
  /// Rejects the removal of a provider or a requestor if that would also remove records of a section that the file does
  /// not have.
  ///
  /// - Parameters:
  ///   - there: the records of the service.
  ///   - path: the file's name for the message.
  /// - Throws: `CommandError` that names the section to add.
  func checkPruning(beside there: ProvisioningFile, in path: String) throws(CommandError) {
    func refuse(_ what: String, _ name: String, _ count: Int, _ record: String, _ section: Section) -> CommandError {
      CommandError(
        "\(path) has no section \(section.rawValue), and removing the \(what) \(name) would remove "
          + counted(count, record),
        hint: "to remove them, add \"\(section.rawValue)\": [] to the file; otherwise keep the \(what)")
    }
    let keptProviders = Set(providers.map(\.id))
    for provider in there.providers.map(\.id)
    where sections.contains(.providers) && !keptProviders.contains(provider) {
      let accounts = there.accounts.count { $0.provider == provider }
      if accounts > 0, !sections.contains(.accounts) {
        throw refuse("provider", provider.text, accounts, "account", .accounts)
      }
      let rules = there.entitlements.count { $0.provider == provider }
      if rules > 0, !sections.contains(.entitlements) {
        throw refuse("provider", provider.text, rules, "rule", .entitlements)
      }
      let integrations = there.integrations.count { $0.provider == provider }
      if integrations > 0, !sections.contains(.integrations) {
        throw refuse("provider", provider.text, integrations, "integration", .integrations)
      }
    }
    let keptRequestors = Set(requestors.map(\.id))
    for requestor in there.requestors.map(\.id)
    where sections.contains(.requestors) && !keptRequestors.contains(requestor) {
      let integrations = there.integrations.count { $0.requestor == requestor }
      if integrations > 0, !sections.contains(.integrations) {
        throw refuse("requestor", requestor.text, integrations, "integration", .integrations)
      }
    }
  }

  /// Names the sections that pruning leaves as they are, because the file does not have them.
  func noteLeftSections(of there: ProvisioningFile, _ console: Console) {
    let left = Section.allCases.filter { !sections.contains($0) && !there.isEmpty($0) }
    guard !left.isEmpty else { return }
    console.note("regentctl: not in the file, and left as they are: \(left.map(\.rawValue).joined(separator: ", "))")
  }

  /// Warns about rules for households to which no account belongs, neither in the file nor in the service.
  func noteEmptyHouseholds(beside there: ProvisioningFile, prunes: Bool, _ console: Console) {
    let kept = prunes && sections.contains(.accounts) ? [] : there.accounts
    var isFilled: [ProviderID: Set<HouseholdID>] = [:]
    for account in kept + accounts {
      if let household = account.household { isFilled[account.provider, default: []].insert(household) }
    }
    var seen: Set<String> = []
    for rule in entitlements {
      guard case .household(let household) = rule.scope,
        isFilled[rule.provider]?.contains(household) != true, seen.insert("\(rule.provider)/\(household)").inserted
      else { continue }
      EmptyHousehold.note(household, at: rule.provider, among: isFilled[rule.provider] ?? [], console)
    }
  }
}

/// Warns about a rule for a household without accounts.
///
/// Such a rule is allowed, because accounts may follow, but it is usually a typing mistake.
enum EmptyHousehold {
  static func note(
    _ household: HouseholdID, at provider: ProviderID, among others: Set<HouseholdID>, rule: EntitlementID? = nil,
    _ console: Console
  ) {
    let removal = "regentctl entitle remove \(rule?.description ?? "ID")"
    console.note("regentctl: warning: no account at \(provider) belongs to the household \(household)")
    if let near = nearest(to: household.text, among: others.map(\.text).sorted()) {
      console.note("  hint: did you mean \(near)? To remove the rule, run \(removal)")
    } else {
      console.note("  hint: run regentctl account set \(provider) NAME --household \(household), or \(removal)")
    }
  }
}

/// The service's verdict on the password hashes in a file.
struct HashFindings {
  /// Accounts that exist and have no password.
  var withoutPassword: Set<[UInt8]> = []

  /// Asks the service to check every hash before anything is changed.
  ///
  /// - Throws: `AdminError` for a hash that is not supported, or for too many kinds of hashes.
  init(of file: ProvisioningFile, _ admin: AdminClient) async throws(AdminError) {
    let questions = file.accounts.compactMap { account in
      file.passwordHashes[account.keyBytes].map { HashQuestion(account.provider, account.name, $0) }
    }
    // The service checks each batch by itself. So one hash of each kind is collected, and these are checked together at
    // the end.
    var kinds: [String: HashQuestion] = [:]
    for batch in batches(of: questions) {
      let answers = try await admin.look(at: batch)
      for (question, answer) in zip(batch, answers) where !answer.hasPassword {
        withoutPassword.insert(Account(provider: question.provider, name: question.name).keyBytes)
        kinds["\(question.provider) \(answer.form)"] = question
      }
    }
    let examples = kinds.values.sorted { ($0.provider, $0.passwordHash) < ($1.provider, $1.passwordHash) }
    for batch in batches(of: examples) { _ = try await admin.look(at: batch) }
  }
}

extension Plan {
  /// Performs every step in order.
  ///
  /// - Parameters:
  ///   - admin: the service.
  ///   - done: called after each step.
  /// - Throws: `CommandError` that says how many steps were done. Each record is changed on its own and accounts in
  ///   batches, so completed steps are not undone.
  func perform(_ admin: AdminClient, done: (Step) -> Void) async throws(CommandError) {
    var place = 0
    while place < steps.count {
      let accounts = accounts(from: place)
      do throws(AdminError) {
        switch steps[place].act {
        case .call(let perform): try await perform(admin)
        case .account: _ = try await admin.save(accounts)
        }
      } catch {
        let inner = CommandError(error)
        let step = steps[place]
        let names =
          accounts.count > 1 ? "\(step.kind)s \(step.name) and \(accounts.count - 1) more" : "\(step.kind) \(step.name)"
        throw CommandError(
          "\(names): \(inner.message) (\(place) of \(steps.count) changes were made and are kept)",
          hint: inner.hint.map { "\($0); then apply the file again to make the other changes" }
            ?? "correct this, then apply the file again; it continues where it stopped",
          code: inner.code)
      }
      let end = place + max(1, accounts.count)
      for step in steps[place..<end] { done(step) }
      place = end
    }
  }

  /// The accounts from this step on that fit into one call to the service.
  private func accounts(from place: Int) -> [AccountChange] {
    var all: [AccountChange] = []
    for step in steps[place...].prefix(AdminPaths.page) {
      guard case .account(let change) = step.act else { break }
      all.append(change)
    }
    return batches(of: all).first ?? []
  }

  /// Throws if records still differ after all steps, because another command changed them at the same time.
  ///
  /// Each step is a change of its own, so two files that are applied at the same time could leave a mixture of both.
  /// This check makes sure that at least one of the two commands fails.
  ///
  /// - Parameter path: the file's name for the message.
  /// - Throws: `CommandError` that names the first record that differs.
  func refuseRest(_ path: String) throws(CommandError) {
    guard let first = steps.first else { return }
    let others = steps.count == 1 ? "" : " and \(steps.count - 1) more"
    throw CommandError(
      "\(path) was applied, but another command changed records at the same time: "
        + "\(first.kind) \(first.name)\(others) differ from the file",
      hint: "see the difference with regentctl apply \(shellQuoted(path)) --dry-run, then apply the file again",
      code: AdminError.Code.changedMeanwhile.rawValue)
  }
}
