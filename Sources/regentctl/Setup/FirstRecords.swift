import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// Adds the records that the first sign-in needs; existing records are not changed.
struct FirstRecords {
  let report: SetupReport
  let admin: AdminClient
  private var call: Invocation { report.call }

  init(_ report: SetupReport, _ admin: AdminClient) {
    self.report = report
    self.admin = admin
  }

  /// Asks for the name that viewers read if `name` is nil.
  func addRequestor(_ given: RequestorID?, called name: String?) async throws -> RequestorID {
    let present = try await admin.requestors().map(\.id)
    let id =
      try given
      ?? ask("requestor: a short id for the publisher of the apps", usual: present.first?.text ?? "tv", "--requestor") {
        RequestorID($0)
      }
    guard !present.contains(id) else { return id }
    var patch = Patch<Requestor>()
    patch.set(
      .name,
      .string(
        try name
          ?? displayName(
            "name of the requestor on phones and screens, such as My TV", usual: id.text, "--requestor-name")))
    show("requestor", try await admin.add(id, patch), "requestor \(id)")
    return id
  }

  /// Asks for the name that viewers read if `name` is nil.
  ///
  /// - Returns: the provider, and whether it was added.
  func addProvider(
    _ given: ProviderID?, called name: String?, for requestor: RequestorID
  ) async throws -> (id: ProviderID, isNew: Bool) {
    let all = try await admin.providers()
    let present = all.map(\.id)
    let id =
      try given
      ?? ask(
        "provider: a short id for the directory of viewers' accounts",
        usual: (all.first(where: \.hasAccounts) ?? all.first)?.id.text ?? "home",
        "--provider"
      ) {
        ProviderID($0)
      }
    if !present.contains(id) {
      var patch = Patch<Provider>()
      patch.set(
        .name,
        .string(
          try name
            ?? displayName(
              "name of the provider on phones (\"Sign in with …\"), such as Hotel Adler", usual: id.text,
              "--provider-name")))
      patch.set(.kind, .string(Provider.KindName.local.rawValue))
      show("provider", try await admin.add(id, patch), "provider \(id)")
    }
    if try await !admin.integrations(of: requestor).contains(where: { $0.provider == id }) {
      var patch = Patch<Integration>()
      patch.set(.enabled, .bool(true))
      show("integration", try await admin.integrate(requestor, id, patch), "integration of \(requestor) with \(id)")
    }
    return (id, !present.contains(id))
  }

  /// Lets all viewers watch titles, if an option says so or the operator answers so.
  ///
  /// A temporary provider has no rules.
  func addRule(_ given: String?, at provider: ProviderID, isNew: Bool) async throws {
    if given == nil {
      guard try await admin.provider(provider).hasAccounts else { return }
      guard try await !admin.entitlements(of: provider).contains(where: { $0.effect == .allow }) else { return }
    }
    guard let pattern = try given.map(Self.pattern) ?? askPattern(at: provider, isNew: isNew) else { return }
    let saved = try await admin.add(
      EntitlementRequest(provider: provider, scope: .everybody, pattern: pattern, effect: .allow))
    show("rule", saved, "rule \(saved.record.id)")
  }

  /// Asks before every viewer gets every title.
  ///
  /// Without a terminal the viewers of a provider that this setup added get every title, as in earlier versions. A
  /// provider that was there before may have no rule on purpose.
  private func askPattern(at provider: ProviderID, isNew: Bool) throws(CommandError) -> ResourcePattern? {
    guard call.canAsk || !isNew else {
      call.console.note("every viewer may watch every title (*); add --allow PATTERN to grant less")
      return try Self.pattern("*")
    }
    guard call.canAsk else {
      call.console.note(
        "no viewer may watch a title yet: run regentctl entitle add \(provider) --allow PATTERN (* is all titles), or "
          + "setup with --allow PATTERN")
      return nil
    }
    return try Prompt.answer(
      "titles that every viewer may watch: * for all, or a pattern such as news-*", usual: "*", orGive: "--allow", call
    ) { text throws(CommandError) in try Self.pattern(text) }
  }

  private static func pattern(_ text: String) throws(CommandError) -> ResourcePattern {
    guard let pattern = ResourcePattern(text) else {
      throw CommandError.usage(
        "--allow is not a pattern", hint: "use 1 to \(ResourcePattern.longest) bytes; * matches any text")
    }
    return pattern
  }

  func addAccount(_ given: AccountName?, at provider: ProviderID) async throws {
    let present = try await admin.accounts(of: provider).map(\.name)
    if given == nil, !present.isEmpty || !call.canAsk { return }
    let name =
      try given
      ?? ask("account: the name that the first viewer signs in with", usual: nil, "--account") { AccountName($0) }
    guard !present.contains(name) else { return }
    let password = try AccountNoun.newPassword(
      "password of \(name)", of: name, mayBeWeak: false, canInsist: false, call)
    show(
      "account", try await admin.add(provider, name, Patch<Account>(), password: password),
      "account \(provider)/\(name)")
    AccountNoun.noteShortness(of: password, call)
  }

  func issueKey(to requestor: RequestorID) async throws {
    let key = try await admin.issueKey(to: requestor)
    report.add("key", key.json, lines: details(["public key": key.publicKey.text, "secret": key.secret]))
    call.console.note("the secret is not shown again; store it now")
  }

  private func show<Record>(_ step: String, _ saved: Saved<Record>, _ what: String) {
    report.add(step, saved.json, lines: ["\(what) \(saved.outcome.rawValue)"])
  }

  private func displayName(_ question: String, usual: String, _ option: String) throws(CommandError) -> String {
    try Prompt.line(question, usual: usual, orGive: option, call)
  }

  private func ask<Name>(
    _ question: String, usual: String?, _ option: String, _ name: (String) -> Name?
  ) throws(CommandError) -> Name {
    try Prompt.answer(question, usual: usual, orGive: option, call) { text throws(CommandError) in
      guard let name = name(text) else {
        throw CommandError.usage(
          "\(text) is not a valid name",
          hint: text.contains(" ")
            ? "an id has no spaces, for example \(text.split(separator: " ").joined(separator: "-")); "
              + "the name that viewers read may have spaces, and setup asks for it"
            : "use 1 to 128 letters, digits, dots, dashes or underscores, without spaces")
      }
      return name
    }
  }
}
