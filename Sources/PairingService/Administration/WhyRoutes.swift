internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire
internal import RegentPlatform

// Explains why a box may or may not watch a title: the result of every check of the service, in the order in which it
// checks.

extension AdminRouteBuilder {
  mutating func mountWhy() {
    on(.get, AdminPaths.why) { call throws(AdminError) in .list(of: try await call.reasons()) }
  }
}

extension AdminCall {
  /// Checks a box at each requestor where it is signed in, and a title when the query names one.
  fileprivate func reasons() async throws(AdminError) -> [Finding] {
    let device = try await device()
    var resource: RequestedResource?
    if let typed = try parameter("resource") {
      guard let id = ResourceID(typed), let read = try? RequestedResource(reading: id) else {
        throw AdminError(.invalid, "the title is not valid", hint: "use the title as the app requests it")
      }
      resource = read
    }
    let records = try await stored { () throws(StoreError) in
      try await core.store.authentications(
        AuthenticationFilter(device: device), after: nil, limit: AdminPaths.page, at: now)
    }
    var findings: [Finding] = []
    for record in records { findings += try await reasons(about: record, resource) }
    switch core.clockTrouble {
    case nil: findings.append(Finding("clock", .good, "the machine's clock is steady"))
    default:
      findings.append(
        Finding("clock", .warning, "the machine's clock jumped", fix: "regentctl doctor"))
    }
    return findings
  }

  private func reasons(about record: AuthenticationRecord, _ resource: RequestedResource?)
    async throws(AdminError) -> [Finding]
  {
    let authentication = record.authentication
    let (viewer, requestor) = (authentication.viewer, authentication.requestor)
    let used = core.lastUses.of(authentication.id)
    var findings = [
      Finding(
        "sign-in", .good,
        "at \(requestor) since \(Self.text(authentication.issued)), until \(Self.text(authentication.expires)); "
          + (used.map { "last call at \(Self.text($0))" } ?? "no call since the service started"))
    ]
    findings += keyReasons(record)
    let account = try await account(of: viewer)
    findings += accountReasons(viewer, account)
    findings += integrationReasons(requestor, viewer.provider)
    let standing: ValidSignIn?
    do throws(StoreError) {
      standing = try await core.store.standing(authentication.id, at: now)
    } catch {
      guard case .notInForce(let refusal) = error else { throw AdminError(error) }
      if findings.allSatisfy({ $0.status != .bad }) {
        findings.append(
          Finding(
            "standing", .bad, "the service refuses the sign-in: \(refusal)",
            fix: "sign the box out, then in again: regentctl device sign-out \(record.deviceHash.shortName)"))
      }
      return findings
    }
    guard let standing else { return findings }
    let box = SignedInDevice(
      signIn: standing, entitlements: core.provisioning.now.rules(of: viewer.provider).about(standing.account),
      profile: authentication.profile)
    guard let resource else { return findings + [ruleSummary(box)] }
    findings.append(decision(about: resource, box))
    let permit = try await stored { () throws(StoreError) in try await core.permit(resource.id, of: box) }
    if case .inForce(let permit) = permit {
      findings.append(
        Finding(
          "permit", .good,
          "granted earlier, valid until \(Self.text(permit.expires)); the rules are checked nevertheless"))
    }
    return findings
  }

  private static func text(_ instant: Instant) -> String {
    CivilDate.text(epochMilliseconds: instant.milliseconds, fraction: false)
  }

  private func account(of viewer: Viewer) async throws(AdminError) -> Account? {
    guard let name = viewer.account else { return nil }
    return try await stored { () throws(StoreError) in try await core.store.account(viewer.provider, name) }
  }

  private func keyReasons(_ record: AuthenticationRecord) -> [Finding] {
    let requestor = record.authentication.requestor
    guard let owner = record.about.owner.flatMap({ PublicKey($0) }),
      let pair = core.provisioning.now.records.keyPairs[owner]
    else { return [] }
    guard pair.state == .revoked else {
      return [Finding("key pair", .good, "\(owner) is \(pair.state.rawValue)")]
    }
    return [
      Finding(
        "key pair", .bad, "\(owner) is revoked: the service refuses every call of the box",
        fix: "enrol the box again: run regentctl requestor invite \(requestor), then regent setup on the box")
    ]
  }

  private func accountReasons(_ viewer: Viewer, _ account: Account?) -> [Finding] {
    guard let name = viewer.account else { return [Finding("account", .good, "a guest of \(viewer.provider)")] }
    guard let account else {
      return [
        Finding(
          "account", .bad, "\(viewer.provider)/\(name) was removed",
          fix: "regentctl account add \(viewer.provider) \(shellQuoted(name.text)), then sign the box in again")
      ]
    }
    guard account.isDisabled else {
      let household = account.household.map { ", household \($0)" } ?? ", no household"
      return [Finding("account", .good, "\(viewer.provider)/\(name) is enabled\(household)")]
    }
    return [
      Finding(
        "account", .bad, "\(viewer.provider)/\(name) is disabled",
        fix: "regentctl account enable \(viewer.provider) \(shellQuoted(name.text))")
    ]
  }

  private func integrationReasons(_ requestor: RequestorID, _ provider: ProviderID) -> [Finding] {
    func found(_ status: Finding.Status, _ detail: String, fix: String? = nil) -> [Finding] {
      [Finding("integration", status, "\(requestor) with \(provider) \(detail)", fix: fix)]
    }
    guard let integration = core.provisioning.now.records.integrations[requestor]?[provider] else {
      return found(.bad, "does not exist", fix: "regentctl integrate \(requestor) \(provider)")
    }
    guard integration.enabled else {
      return found(.bad, "is switched off", fix: "regentctl integrate \(requestor) \(provider) --on")
    }
    guard let degradation = integration.degradation else { return found(.good, "is on") }
    return found(
      degradation == .authorizeNobody ? .bad : .warning, "is degraded: \(degradation.rawValue)",
      fix: "regentctl integrate \(requestor) \(provider) --degrade off")
  }

  /// Says whether any entitlement rule or channel list could allow the box a title.
  private func ruleSummary(_ box: SignedInDevice) -> Finding {
    let rules = box.entitlements.filter { $0.effect == .allow }
    let channels = box.account?.attributes.channels ?? []
    guard rules.isEmpty, channels.isEmpty, box.pass == nil else {
      return Finding(
        "rules", .good,
        "\(rules.count) allow rules and \(channels.count) channels; add a title to see which one decides")
    }
    return Finding(
      "rules", .bad, "no rule allows anything for this viewer, and the account has no channel",
      fix: "regentctl entitle add \(box.provider.id) --allow '*'")
  }

  private func decision(about resource: RequestedResource, _ box: SignedInDevice) -> Finding {
    let (provider, account) = (box.provider.id, box.account)
    let rule = box.entitlements.deciding(about: resource.name, for: account?.name, in: account?.household)
    let title = CleanText.line(resource.name, longest: 128) ?? "the title"
    func found(_ status: Finding.Status, _ detail: String, fix: String? = nil) -> Finding {
      Finding("title", status, detail, fix: fix)
    }
    // Operators copy these commands into a root shell, and a viewer or a provider's file may have chosen the names.
    let allow =
      "regentctl entitle add \(provider) --allow \(shellQuoted(title))"
      + (account.map { " --account \(shellQuoted($0.name.text))" } ?? "")
    do throws(AuthorizationDenial) {
      switch try box.decide(resource) {
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
