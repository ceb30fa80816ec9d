internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire
internal import RegentPlatform

// Explains which entitlement rule or channel decides about a title.

extension AdminRouteBuilder {
  mutating func mountTitleTest() {
    on(.get, AdminPaths.titleTest(of: "{provider}")) { call throws(AdminError) in
      .list(of: try await call.titleTest())
    }
    on(.get, AdminPaths.channels(of: "{provider}")) { call throws(AdminError) in
      .list(of: try await call.channels())
    }
  }
}

extension AdminCall {
  /// The most rules that one finding lists.
  private static let mostRules = 8

  /// The title that the query names, as the service would read it in a request.
  func requestedResource() throws(AdminError) -> RequestedResource? {
    guard let typed = try parameter("resource") else { return nil }
    guard let id = ResourceID(typed), let read = try? RequestedResource(reading: id) else {
      throw AdminError(.invalid, "the title is not valid", hint: "use the title as the app requests it")
    }
    return read
  }

  /// Says whether an account may watch a title, on any box that is signed in with it.
  fileprivate func titleTest() async throws(AdminError) -> [Finding] {
    let provider = try provider().id
    let name: AccountName = try identifier(parameter: "name", "account")
    let viewer = Viewer(provider: provider, account: name)
    guard let account = try await account(of: viewer) else { throw .missing(.account(provider, name)) }
    guard let resource = try requestedResource() else {
      throw AdminError(.invalid, "the parameter \"resource\" is missing")
    }
    let rules = core.provisioning.now.rules(of: provider).about(account)
    let title = decision(about: resource, provider, account, rules) { () throws(AuthorizationDenial) in
      try account.rules(entitlements: rules, degradation: nil).decide(resource)
    }
    // An integration can refuse its requestor's apps whatever the account is, so its problems are warnings here.
    let integrations = core.provisioning.now.records.integrations.filter { $0.value[provider] != nil }.keys.sorted()
    return accountReasons(viewer, account) + [title]
      + integrations.flatMap { integrationReasons($0, provider) }.filter { $0.status != .good }
      .map { Finding($0.check, .warning, $0.detail, fix: $0.fix) }
  }

  /// The channels of a provider's accounts.
  fileprivate func channels() async throws(AdminError) -> [ChannelEntry] {
    let provider = try provider().id
    var found: [String: ChannelEntry] = [:]
    var last: AccountName?
    while true {
      let after = last
      let page = try await stored { () throws(StoreError) in
        try await core.store.accounts(provider, after: after, limit: AdminPaths.page)
      }
      for account in page {
        for channel in account.attributes.channels {
          var entry = found[channel] ?? ChannelEntry(provider: provider, channel: channel, account: account.name)
          entry.accounts += 1
          if entry.accounts > 1 { entry.account = nil }
          found[channel] = entry
        }
      }
      guard page.count == AdminPaths.page, let end = page.last else { break }
      last = end.name
    }
    return found.values.sorted { $0.channel < $1.channel }
  }

  /// Lists the entitlement rules and channels that apply to the box, or says that there are none.
  func ruleSummary(_ box: SignedInDevice) -> Finding {
    let rules = box.entitlements.filter { $0.effect == .allow }
    let channels = box.account?.attributes.channels ?? []
    guard rules.isEmpty, channels.isEmpty, box.pass == nil else {
      let all =
        box.entitlements.map { "rule \($0.id) \($0.effect == .allow ? "allows" : "denies") \($0.pattern)" }
        + (channels.isEmpty ? [] : ["channels: \(channels.joined(separator: ", "))"])
        + (box.pass == nil ? [] : ["a temporary pass opens every title"])
      let more = all.count > Self.mostRules ? ["and \(all.count - Self.mostRules) more"] : []
      return Finding("rules", .good, (all.prefix(Self.mostRules) + more).joined(separator: "; "))
    }
    return Finding(
      "rules", .bad, "no rule allows anything for this viewer, and the account has no channel",
      fix: "regentctl entitle add \(box.provider.id) --allow '*'")
  }

  /// Says which rule or channel decides about a title for an account, or for a guest.
  func decision(
    about resource: RequestedResource, _ provider: ProviderID, _ account: Account?, _ rules: [Entitlement],
    _ decide: () throws(AuthorizationDenial) -> AuthorizationSource
  ) -> Finding {
    let rule = rules.deciding(about: resource.name, for: account?.name, in: account?.household)
    let title = CleanText.line(resource.name, longest: 128) ?? "the title"
    func found(_ status: Finding.Status, _ detail: String, fix: String? = nil) -> Finding {
      Finding("title", status, detail, fix: fix)
    }
    // Operators copy these commands into a root shell, and a viewer or a provider's file may have chosen the names.
    let allow =
      "regentctl entitle add \(provider) --allow \(shellQuoted(title))"
      + (account.map { " --account \(shellQuoted($0.name.text))" } ?? "")
    do throws(AuthorizationDenial) {
      switch try decide() {
      case .entitlement: return found(.good, "rule \(rule?.id.text ?? "") allows \(rule?.pattern.text ?? "")")
      case .lineUp: return found(.good, "the account has the channel \(title)")
      case .temporaryPass: return found(.good, "a temporary pass opens every title")
      case .degradation: return found(.good, "everything may be watched while the integration is degraded")
      }
    } catch {
      switch error {
      case .degradation: return found(.bad, "nothing may be watched while the integration is degraded")
      case .parentalControls:
        return found(
          .bad, "its rating is above the account's limit",
          fix: "regentctl account set \(provider) \(account.map { shellQuoted($0.name.text) } ?? "NAME") "
            + "--rating SCHEME=VALUE")
      case .provider:
        guard let rule else {
          return found(.bad, "no rule matches \(title), and the account has no channel of that name", fix: allow)
        }
        return found(
          .bad, "rule \(rule.id) denies \(rule.pattern.text)",
          fix: "run regentctl entitle remove \(rule.id), or \(allow)")
      }
    }
  }
}
