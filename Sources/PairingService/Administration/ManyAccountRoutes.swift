internal import Administration
internal import PairingStore
internal import PasswordHashing
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing

// Admin routes that import accounts with password hashes of another program, up to several hundred in one request,
// which is one transaction.

extension AdminRouteBuilder {
  mutating func mountManyAccounts() {
    on(.post, AdminPaths.manyAccounts) { call throws(AdminError) in .document(try await call.saveAccounts()) }
    on(.post, AdminPaths.hashes) { call throws(AdminError) in .list(of: try await call.lookAtHashes()) }
  }
}

/// One account of a batch, with the change to store.
private struct PlannedAccount {
  let write: AccountWrite
  let outcome: SaveOutcome
}

extension AdminCall {
  /// Adds or changes all accounts of the batch in one transaction.
  ///
  /// It tries again when another writer has changed one of the accounts meanwhile.
  fileprivate func saveAccounts() async throws(AdminError) -> AccountOutcomes {
    let batch: AccountBatch = try document()
    try refuseMany(batch.changes.count)
    try refuseTwice(batch.changes)
    var attempts = 3
    while true {
      var planned: [PlannedAccount] = []
      var forms: [ProviderID: Set<PasswordForm>] = [:]
      for change in batch.changes { planned.append(try await plan(change, &forms)) }
      try refuse(forms)
      let writes = planned.filter { $0.outcome != .unchanged }.map(\.write)
      do throws(StoreError) {
        let changes = try await core.passwordForms.adding(forms) { () throws(StoreError) in
          try await core.store.putAccounts(writes, at: now)
        }
        core.codeTransitions.settle(changes)
        return AccountOutcomes(planned.map(\.outcome))
      } catch {
        attempts -= 1
        guard case .changedMeanwhile = error, attempts > 0 else { throw AdminError(error) }
      }
    }
  }

  private func plan(
    _ change: AccountChange, _ forms: inout [ProviderID: Set<PasswordForm>]
  ) async throws(AdminError) -> PlannedAccount {
    let members = change.patch.members
    guard let id = members["provider"]?.string.flatMap({ ProviderID($0) }),
      let name = members["name"]?.string.flatMap({ AccountName($0) })
    else { throw AdminError(.invalid, "an account of the batch has no provider or no name") }
    guard let provider = core.provisioning.now.records.providers[id] else { throw .missing("provider", id.text) }
    let writer = accountWriter(name, at: provider)
    let there = try await writer.find()
    if there == nil { try refuseOuterSpaces(name) }
    let wanted = try change.isNew ? writer.added(change.patch, to: there) : writer.changed(there, by: change.patch)
    if there != wanted { try writer.check(wanted) }
    var password: PasswordHash?
    if let text = change.passwordHash {
      let hash = try importedHash(text, of: writer.title)
      if try await !hasPassword(name, at: id) {
        password = hash
        forms[id, default: []].insert(hash.form)
      }
    }
    let isSame = there == wanted && password == nil
    return PlannedAccount(
      write: AccountWrite(
        wanted, replacing: there, firstPassword: password?.text,
        audit: entry(saving: wanted, over: there, writer.title, also: password.map { _ in "password" })),
      outcome: isSame ? .unchanged : there == nil ? .added : .changed)
  }

  /// Reports the format of each password hash, so that an import finds unusable hashes before it changes any account.
  fileprivate func lookAtHashes() async throws(AdminError) -> [HashAnswer] {
    let batch: HashQuestions = try document()
    try refuseMany(batch.questions.count)
    var answers: [HashAnswer] = []
    var forms: [ProviderID: Set<PasswordForm>] = [:]
    for one in batch.questions {
      let hash = try importedHash(one.passwordHash, of: .account(one.provider, one.name))
      let hasPassword = try await hasPassword(one.name, at: one.provider)
      if !hasPassword { forms[one.provider, default: []].insert(hash.form) }
      answers.append(HashAnswer(form: hash.form.name, hasPassword: hasPassword))
    }
    try refuse(forms)
    return answers
  }

  private func hasPassword(_ name: AccountName, at provider: ProviderID) async throws(AdminError) -> Bool {
    try await stored { () throws(StoreError) in try await core.store.password(of: name, at: provider) } != nil
  }

  private func importedHash(_ text: String, of title: RecordTitle) throws(AdminError) -> PasswordHash {
    do throws(PasswordImportError) {
      return try PasswordHash(importing: text)
    } catch {
      throw AdminError(
        .invalid, "the password hash of \(title) is not supported: \(error)",
        hint: "remove passwordHash, and set a password: regentctl account password")
    }
  }

  private func refuse(_ new: [ProviderID: Set<PasswordForm>]) throws(AdminError) {
    for (provider, forms) in new {
      guard !forms.isEmpty, let problem = core.passwordForms.problem(with: forms, at: provider) else { continue }
      throw AdminError(
        .refused, "provider \(provider): \(problem)",
        hint:
          "remove the rarest kind and set those passwords (regentctl account password), or use one provider per kind")
    }
  }

  private func refuseTwice(_ changes: [AccountChange]) throws(AdminError) {
    var seen: Set<[UInt8]> = []
    for change in changes {
      let name = ["provider", "name"].map { change.patch.members[$0]?.string ?? "" }.joined(separator: "/")
      guard seen.insert(Array(name.utf8)).inserted else {
        throw AdminError(.invalid, "account \(name) is in the batch twice", hint: "remove one of the two")
      }
    }
  }

  private func refuseMany(_ count: Int) throws(AdminError) {
    guard count > AdminPaths.page else { return }
    throw AdminError(.invalid, "a batch may have at most \(AdminPaths.page) accounts, not \(count)")
  }
}
