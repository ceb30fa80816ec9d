internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

// Problems that the service can detect itself, for `regentctl doctor`.

extension AdminCall {
  /// Problems that would affect phones, viewers or boxes, with the commands that fix them.
  func findings() async throws(AdminError) -> [Finding] {
    var wrong = try await requestorFindings()
    wrong += try await providerFindings()
    wrong += platformFindings()
    wrong += try await oauthFindings()
    wrong += keyFindings()
    let ready = Finding(
      "provisioning", .good,
      "requestors that are ready: \(core.provisioning.now.records.requestors.count)")
    let nodes = try await stored { () throws(StoreError) in try await core.store.nodes() }
    wrong += NodeFindings.findings(about: nodes)
    return try await backupFindings() + addressFindings(isOneOfSeveral: nodes.count > 1) + proxyFindings()
      + clockFindings()
      + codeFindings() + reportFindings()
      + (wrong.isEmpty ? [ready] : wrong)
  }

  /// Problems of the addresses at which phones and boxes reach the service.
  ///
  /// With several nodes, phones reach a load balancer, so the advice differs from that for a single service.
  private func addressFindings(isOneOfSeveral: Bool) -> [Finding] {
    let url = core.options.publicURL
    if url.isLoopbackURL {
      return [
        Finding(
          "public-url", .warning,
          "phones cannot open \(url): only this machine can reach that address",
          fix: isOneOfSeveral
            ? "start every node with the load balancer's address: regentd serve --public-url https://NAME"
            : core.options.port.map {
              "run sudo regentctl setup --public-url http://LAN-ADDRESS:\($0) with an address that hostname -I shows; "
                + "without the package: regentd serve --listen '*:\($0)' --public-url http://LAN-ADDRESS:\($0)"
            } ?? "start it with the address that phones open: regentd serve --public-url URL"
        )
      ]
    }
    guard core.options.isPlainHTTP else { return [] }
    let isAtHome = (try? AbsoluteURL(parsing: url))?.host.isInsideAHome == true
    return [
      Finding(
        "encryption", .warning,
        isAtHome
          ? "no TLS: any device on this network can read passwords"
          : "\(url) has no TLS: passwords cross the network unencrypted",
        fix: isOneOfSeveral
          ? "add a certificate at the load balancer, and start every node with --public-url https://NAME"
          : "run sudo regentctl setup --public-url https://NAME with --proxy or --certificate")
    ]
  }

  /// Warns of a reverse proxy that is missing from the settings: without the setting, the service takes all clients
  /// behind the proxy for one.
  private func proxyFindings() -> [Finding] {
    if core.undeclaredProxy.hidesAddresses(at: core.clock.uptime) {
      return [
        Finding(
          "proxy", .warning,
          "the proxy on the Unix socket does not send the addresses of its clients (X-Forwarded-For): rate limits "
            + "treat all its clients as one",
          fix: "compare the proxy's settings with the sample for it; install.md names the folder of the samples")
      ]
    }
    guard let proxy = core.undeclaredProxy.seen(at: core.clock.uptime) else { return [] }
    return [
      Finding(
        "proxy", .warning,
        "\(proxy) is a proxy, but the settings do not name it: rate limits treat all its clients as one, and the "
          + "approve page cannot show the box's network",
        fix: "run sudo regentctl setup --public-url \(core.options.publicURL) --proxy; without the package: "
          + "regentd serve --trust-proxy \(proxy), if only the proxy can connect from there")
    ]
  }

  /// Warns when a service that holds data has no backup, or only an old one.
  private func backupFindings() async throws(AdminError) -> [Finding] {
    guard !core.provisioning.now.records.requestors.isEmpty else { return [] }
    let fix = "run regentctl backup FILE, preferably every night: see backup.md (package regent-doc)"
    let kept = try await stored { () throws(StoreError) in
      try await core.store.keptNumbers(.backup)
    }
    guard let last = kept.flatMap(Int64.init).map(Instant.init(milliseconds:)) else {
      return [Finding("backup", .warning, "this service has never been backed up", fix: fix)]
    }
    let days = now.since(last).wholeMilliseconds / 86_400_000
    let time = CivilDate.text(epochMilliseconds: last.milliseconds, fraction: false)
    guard last <= now else {
      return [
        Finding(
          "backup", .warning, "the last backup is dated \(time), which is in the future",
          fix: "check the clock, then make a new backup: regentctl backup FILE")
      ]
    }
    guard days >= Self.oldBackup else {
      return [Finding("backup", .good, "the last backup was made at \(time)")]
    }
    return [
      Finding("backup", .warning, "the last backup is \(days) days old (\(time))", fix: fix)
    ]
  }

  /// The age in days from which a backup is reported as old.
  private static let oldBackup: Int64 = 7

  private func codeFindings() async throws(AdminError) -> [Finding] {
    let (pending, most) = (try await liveCodes(), core.options.limits.liveCodes)
    guard pending * 10 >= most * 9 else { return [] }
    return [
      Finding(
        "codes", .warning, "\(pending) of \(most) live codes are in use",
        fix: "see which boxes request them: regentctl code list; or raise --live-codes")
    ]
  }

  /// Warns for a day of codes that viewers have reported, at any node.
  ///
  /// It reads the audit log, and of a busy service only its newest lines.
  private func reportFindings() async throws(AdminError) -> [Finding] {
    let count = try await stored { () throws(StoreError) in
      let newest = try await core.store.newestAuditNumber()
      let lines = try await core.store.audit(
        after: max(0, newest - Int64(Self.mostReportLines)), limit: Self.mostReportLines)
      return lines.count { $0.entry.action == "code.report" && $0.entry.at > now - .seconds(86_400) }
    }
    guard count > 0 else { return [] }
    return [
      Finding(
        "reports", .warning,
        "viewers reported \(count) \(count == 1 ? "code" : "codes") in 24 hours that they did not start: another person may"
          + " try to use their accounts",
        fix: "see who and from where: regentctl audit tail --action code.report")
    ]
  }

  private static let mostReportLines = 5_000

  private func requestorFindings() async throws(AdminError) -> [Finding] {
    let provisioned = core.provisioning.now
    let records = provisioned.records
    guard !records.requestors.isEmpty else {
      return [
        Finding(
          "provisioning", .warning, "there is no requestor, so no box can sign in",
          fix: "regentctl requestor add ID --name NAME")
      ]
    }
    let enrolments = try await stored { () throws(StoreError) in try await core.store.enrolments(at: now) }
    // A requestor with a valid invitation needs no key pair yet: its first box will get one.
    let invited = Set(enrolments.map(\.requestor))
    var findings: [Finding] = []
    for requestor in records.requestors.keys.sorted() {
      func find(_ status: Finding.Status, _ detail: String, fix: String) {
        findings.append(Finding("requestor \(requestor)", status, detail, fix: fix))
      }
      if provisioned.rowKey(of: requestor) == nil {
        find(
          .bad, "the requestor has no key pair that signs its database rows",
          fix: "regentctl requestor add \(requestor)")
      }
      let hasKey = records.keyPairs.values.contains {
        $0.requestor == requestor && $0.purpose == .calls && $0.state == .active
      }
      let hasApplication = records.applications.values.contains {
        $0.requestor == requestor && !$0.isRevoked
      }
      if !hasKey, !hasApplication, !invited.contains(requestor) {
        find(
          .warning, "its apps cannot call the service: it has no key pair",
          fix:
            "for a box, run regentctl requestor invite \(requestor); for another app, regentctl key issue \(requestor)")
      }
      if records.requestors[requestor]?.certificate == nil, core.missingCertificates.contains(requestor) {
        find(
          .warning, "its apps send a signedRequestorID and are refused: there is no certificate to verify it",
          fix: "regentctl requestor set \(requestor) --certificate FILE")
      }
      for (provider, integration) in records.integrations[requestor, default: [:]]
        .sorted(by: { $0.key < $1.key })
      {
        guard let degradation = integration.degradation else { continue }
        find(
          .warning,
          "the integration with \(provider) is degraded (\(degradation.rawValue)): the provider's rules are not used",
          fix: "regentctl integrate \(requestor) \(provider) --degrade off")
      }
      if provisioned.choices[requestor, default: []].isEmpty {
        find(
          .warning, "viewers cannot sign in: it is not integrated with any provider",
          fix: "regentctl integrate \(requestor) PROVIDER")
      }
    }
    return findings
  }

  /// Problems of the providers from which viewers can choose.
  private func providerFindings() async throws(AdminError) -> [Finding] {
    let provisioned = core.provisioning.now
    let offered = Set(provisioned.choices.values.joined().map(\.provider.id))
    var findings: [Finding] = []
    // Providers with temporary passes are skipped, because a pass opens every title up to its limits and needs no rule.
    for provider in offered.sorted()
    where provisioned.records.providers[provider]?.hasAccounts == true {
      if let finding = try await accountFinding(provider) { findings.append(finding) }
      let rules = provisioned.records.entitlements[provider, default: []]
      if !rules.contains(where: { $0.effect == .allow }) {
        findings.append(
          Finding(
            "provider \(provider)", .warning, "viewers may watch nothing: the provider has no allow rule",
            fix: "regentctl entitle add \(provider) --allow '*'"))
      }
    }
    return findings
  }
}

extension AdminCall {
  /// Warns when no account of the provider can sign in.
  private func accountFinding(_ provider: ProviderID) async throws(AdminError) -> Finding? {
    // If a provider has at least this many accounts, some of them surely have a password, so the passwords are not
    // checked.
    let few = 20
    let accounts = try await stored { () throws(StoreError) in
      try await core.store.accounts(provider, after: nil, limit: few)
    }
    guard let first = accounts.first else {
      return Finding(
        "provider \(provider)", .warning, "viewers cannot sign in: the provider has no account",
        fix: "regentctl account add \(provider) NAME")
    }
    guard accounts.count < few else { return nil }
    for account in accounts {
      let password = try await stored { () throws(StoreError) in
        try await core.store.password(of: account.name, at: provider)
      }
      if password != nil { return nil }
    }
    return Finding(
      "provider \(provider)", .warning, "viewers cannot sign in: no account has a password",
      fix: "regentctl account password \(provider) \(shellQuoted(first.name.text))")
  }
}

extension HostName {
  /// Whether the host can be reached only inside a home network.
  ///
  /// Unencrypted traffic with it does not leave that network.
  var isInsideAHome: Bool {
    guard case .address(let address) = self else { return isOfOneHome }
    let networks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"]
    return networks.contains { (try? IPNetwork(parsing: $0))?.contains(address) == true }
  }
}

extension Duration {
  /// The duration in words, rounded to one unit: `31 days`, `2 hours`, `12 minutes`.
  var inWords: String {
    let seconds = components.seconds
    return switch seconds {
    case 172_800...: "\(seconds / 86_400) days"
    case 7_200...: "\(seconds / 3_600) hours"
    case 120...: "\(seconds / 60) minutes"
    default: "\(seconds) seconds"
    }
  }
}
