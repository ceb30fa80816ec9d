import Administration
import CommandKit
import RegentPairing
import RegentPlatform

// Doing what a plan says, so that whoever applied a file knows afterwards what the service has.

extension ProvisioningFile {
  /// Refuses a file that names what neither it nor the service has, before anything is done.
  ///
  /// - Parameters:
  ///   - there: what the service has.
  ///   - prunes: whether what the file does not have is removed, and counts no more.
  ///   - path: what the file is called.
  /// - Throws: `CommandError` with the place in the file.
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
      let who = isPruned ? "the file itself does not have" : "neither the file nor the service has"
      return CommandError(
        "\(path): \(place) names the \(what) \(name), which \(who)",
        hint: "add it to \(what)s, or check the spelling: regentctl \(what) list")
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
  /// Refuses to prune a provider or a requestor whose removal takes records with it that the file does not speak of.
  ///
  /// - Parameters:
  ///   - there: what the service has.
  ///   - path: what the file is called.
  /// - Throws: `CommandError` that names the section to add.
  func checkPruning(beside there: ProvisioningFile, in path: String) throws(CommandError) {
    func refuse(_ what: String, _ name: String, _ count: Int, _ record: String, _ section: Section) -> CommandError {
      CommandError(
        "\(path) has no section \(section.rawValue), and removing the \(what) \(name) would remove "
          + counted(count, record),
        hint: "write \"\(section.rawValue)\": [] into the file if they are to go, or keep the \(what)")
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

  /// Says which households of rules no account has, neither in the file nor in the service.
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

/// A rule about a household that no account has: allowed, because accounts may come later, and most often a slip.
enum EmptyHousehold {
  static func note(
    _ household: HouseholdID, at provider: ProviderID, among others: Set<HouseholdID>, _ console: Console
  ) {
    console.note("regentctl: warning: no account at \(provider) has the household \(household)")
    if let near = nearest(to: household.text, among: others.map(\.text).sorted()) {
      console.note("  hint: did you mean \(near)? regentctl entitle remove ID takes the rule away")
    } else {
      console.note("  hint: regentctl account set \(provider) NAME --household \(household)")
    }
  }
}

/// What a service says of the hashes in a file.
struct HashFindings {
  /// Accounts that are there and have no password.
  var withoutPassword: Set<[UInt8]> = []

  /// Has the service look at every hash before anything is done.
  ///
  /// - Throws: `AdminError` for one that is not taken, or for too many kinds of them.
  init(of file: ProvisioningFile, _ admin: AdminClient) async throws(AdminError) {
    let questions = file.accounts.compactMap { account in
      file.passwordHashes[account.keyBytes].map { HashQuestion(account.provider, account.name, $0) }
    }
    // Each batch is judged by itself: one hash of every kind shows what they are together.
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
  /// Does every step, in order.
  ///
  /// - Parameters:
  ///   - admin: the service.
  ///   - done: is told of each step that was done.
  /// - Throws: `CommandError` that says how far it came: each record is changed by itself, accounts by the batch, and
  ///   what was done stays.
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
          "\(names): \(inner.message) (\(place) of \(steps.count) changes were made, and stay)",
          hint: inner.hint.map { "\($0); then apply the file again" }
            ?? "apply the file again when that is mended: it goes on where it stopped",
          code: inner.code)
      }
      let end = place + max(1, accounts.count)
      for step in steps[place..<end] { done(step) }
      place = end
    }
  }

  /// The accounts from this step on that go into one call.
  private func accounts(from place: Int) -> [AccountChange] {
    var all: [AccountChange] = []
    for step in steps[place...].prefix(AdminPaths.page) {
      guard case .account(let change) = step.act else { break }
      all.append(change)
    }
    return batches(of: all).first ?? []
  }

  /// What is still not as wanted after every step was done: somebody else wrote at the same time.
  ///
  /// Each step is a change of its own. Two files that are applied at once would leave a mixture of both behind; looking
  /// again makes sure that at least one of the two is told.
  ///
  /// - Parameter path: what the file is called.
  /// - Throws: `CommandError` when anything is left.
  func refuseRest(_ path: String) throws(CommandError) {
    guard let first = steps.first else { return }
    let others = steps.count == 1 ? "" : " and \(steps.count - 1) more"
    throw CommandError(
      "somebody else changed records at the same time: \(first.kind) \(first.name)\(others) are not as \(path) says",
      hint: "see what is different: regentctl apply \(shellQuoted(path)) --dry-run; then apply it again",
      code: AdminError.Code.changedMeanwhile.rawValue)
  }
}
