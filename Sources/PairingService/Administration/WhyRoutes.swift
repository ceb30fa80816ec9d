internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire
internal import RegentPlatform

// Explains why a box may or may not watch: the result of every check of the service, in the order in which it checks.

extension AdminRouteBuilder {
  mutating func mountWhy() {
    on(.get, AdminPaths.why) { call throws(AdminError) in .list(of: try await call.reasons()) }
  }
}

extension AdminCall {
  /// Checks a box at each requestor where it is signed in, and a title when the query names one.
  fileprivate func reasons() async throws(AdminError) -> [Finding] {
    let device = try await device()
    let resource = try requestedResource()
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

  /// Checks one sign-in, and a title if one is given.
  func reasons(about record: AuthenticationRecord, _ resource: RequestedResource?)
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
    let account = try await account(of: viewer)
    findings += obstacles(to: record, account)
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
    findings.append(
      decision(about: resource, box.provider.id, box.account, box.entitlements) { () throws(AuthorizationDenial) in
        try box.decide(resource)
      })
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

  func account(of viewer: Viewer) async throws(AdminError) -> Account? {
    guard let name = viewer.account else { return nil }
    return try await stored { () throws(StoreError) in try await core.store.account(viewer.provider, name) }
  }

  /// The checks of a sign-in for which the service needs no title: key pair, account and integration.
  func obstacles(to record: AuthenticationRecord, _ account: Account?) -> [Finding] {
    let viewer = record.authentication.viewer
    return keyReasons(record) + accountReasons(viewer, account)
      + integrationReasons(record.authentication.requestor, viewer.provider)
  }

  /// When an obstacle began, if one of the newest audit lines says it.
  func start(of obstacle: Finding, for record: AuthenticationRecord) async throws(AdminError) -> Instant? {
    let viewer = record.authentication.viewer
    let subject: String
    /// The actions that cause the obstacle, each with a part of its detail.
    let causes: [(action: String, detail: String)]
    switch obstacle.check {
    case "key pair": (subject, causes) = (record.about.owner ?? "", [("key.revoke", "")])
    case "account":
      guard let name = viewer.account else { return nil }
      subject = RecordTitle.account(viewer.provider, name).name
      causes = [("account.set", "disabled=on"), ("account.remove", "")]
    case "integration":
      subject = RecordTitle.integration(record.authentication.requestor, viewer.provider).name
      causes = [("integration.set", "enabled=off"), ("integration.remove", "")]
    default: return nil
    }
    return try await stored { () throws(StoreError) in
      var end = try await core.store.newestAuditNumber()
      for _ in 0..<Self.mostAuditPages where end > 0 {
        let start = max(0, end - Int64(AdminPaths.page))
        let lines = try await core.store.audit(after: start, limit: Int(end - start))
        let line = lines.last { line in
          line.entry.outcome == .done && line.entry.subject == subject
            && causes.contains {
              line.entry.action == $0.action && ($0.detail.isEmpty || line.entry.detail.contains($0.detail))
            }
        }
        if let line { return line.entry.at }
        end = start
      }
      return nil
    }
  }

  /// The number of pages of the audit log that are searched for the start of an obstacle.
  private static let mostAuditPages = 10

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

  func accountReasons(_ viewer: Viewer, _ account: Account?) -> [Finding] {
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

  func integrationReasons(_ requestor: RequestorID, _ provider: ProviderID) -> [Finding] {
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
}
