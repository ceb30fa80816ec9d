internal import Administration
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

// Admin routes for registration codes: list them, withdraw them, approve one on behalf of a viewer.

extension AdminRouteBuilder {
  mutating func mountCodes() {
    on(.get, AdminPaths.codes) { call throws(AdminError) in
      let after: RegistrationID? = try call.optionalIdentifier(parameter: "after", "code")
      let limit = try call.limit()
      let records = try await stored { () throws(StoreError) in
        try await call.core.store.registrations(after: after, limit: limit, at: call.now)
      }
      return .list(of: records.map { CodeEntry($0, at: call.now, for: call.role) })
    }
    on(.get, AdminPaths.one(AdminPaths.codes, "{code}")) { call throws(AdminError) in
      .document(CodeEntry(try await call.code(), at: call.now, for: call.role))
    }
    on(.post, AdminPaths.act(AdminPaths.codes, "{code}", "withdraw")) {
      call throws(AdminError) in
      let record = try await call.code()
      let line = call.entry("code.withdraw", record.id.text, detail: record.auditLabel)
      let withdrawn = try await stored { () throws(StoreError) in
        try await call.core.codeTransitions.withdraw(record.id, .operator, audit: line)
      }
      return .document(CodeEntry(withdrawn, at: call.now, for: call.role))
    }
    on(.post, AdminPaths.act(AdminPaths.codes, "{code}", "approve")) { call throws(AdminError) in
      .document(try await call.approveCode())
    }
  }
}

extension AdminCall {
  /// The registration code that the request's path names by its letters, by the id of its record, or by the beginning
  /// of that id.
  fileprivate func code() async throws(AdminError) -> RegistrationRecord {
    let typed = text("code")
    if let code = try? RegistrationCode(typed: typed) {
      let hash = core.hasher.code(code)
      try await stored { () throws(StoreError) in try await core.codeLooks.look(at: hash) }
      if let record = core.codes.find(hash) { return record }
    }
    return try await lookUp("code", typed, \.id) { (after, limit) throws(StoreError) in
      try await core.store.registrations(after: after, limit: limit, at: now)
    }
  }

  fileprivate func approveCode() async throws(AdminError) -> CodeEntry {
    let record = try await code()
    let approval: CodeApproval = try document()
    guard let provider = core.provisioning.now.records.providers[approval.provider] else {
      throw .missing("provider", approval.provider.text)
    }
    guard (approval.account != nil) == provider.hasAccounts else {
      throw AdminError(
        .invalid,
        approval.account == nil
          ? "provider \(provider.id) has accounts, and no account was given"
          : "provider \(provider.id) is temporary and has no accounts",
        hint: approval.account == nil
          ? "add --account NAME; list the accounts: regentctl account list \(provider.id)"
          : "remove --account")
    }
    if let name = approval.account {
      let account = try await stored { () throws(StoreError) in
        try await core.store.account(provider.id, name)
      }
      guard account != nil else { throw .missing(.account(provider.id, name)) }
    }
    let viewer = Viewer(provider: approval.provider, account: approval.account)
    let detail = "\(record.requestor) for \(viewer.title)\(record.report), \(record.deviceTitle)"
    let line = entry("code.approve", record.id.text, detail: detail)
    guard let authentication = AuthenticationID(Random.uuid()) else {
      throw AdminError(.failed, "the service could not create an id for the sign-in", hint: "run the command again")
    }
    let request = ApprovalRequest(
      by: .operator(`operator`, for: viewer), authentication: authentication)
    do throws(StoreError) {
      let result = try await core.codeTransitions.approve(record.id, request, audit: line)
      await core.signInTransitions.makeRoom(besides: result.authentication)
      return CodeEntry(result.change.record, at: now, for: role)
    } catch {
      // The refusal of an approval is audited only if the store works. During an outage the store has not refused the
      // approval, and writing an audit entry would block until the outage ends.
      if error.outage == nil {
        await core.audit.write(
          .operator(`operator`), "code.approve", record.id.text, .refused,
          detail: "\(detail): \(error)")
      }
      throw AdminError(error)
    }
  }

  /// Withdraws all pending codes of a requestor.
  ///
  /// The codes are withdrawn before the requestor's other data is removed, so that the devices are told why their codes
  /// ended.
  func withdrawCodes(of requestor: RequestorID) async throws(AdminError) {
    var last: RegistrationID?
    while true {
      let after = last
      let page = try await stored { () throws(StoreError) in
        try await core.store.registrations(after: after, limit: AdminPaths.page, at: now)
      }
      for record in page
      where record.requestor == requestor && record.flow.settled(at: now).state.isPending {
        // The error is ignored: a code that has ended since the page was read needs no withdrawal.
        _ = try? await core.codeTransitions.withdraw(record.id, .operator, audit: nil)
      }
      guard let end = page.last else { return }
      last = end.id
    }
  }
}

extension CodeEntry {
  init(_ record: RegistrationRecord, at now: Instant, for role: AdminRole) {
    let flow = record.flow.settled(at: now)
    let viewer: Viewer? =
      switch flow.state {
      case .claimed(let lease): lease.claimer.viewer
      default: flow.state.approval?.viewer
      }
    self.init(
      id: record.id, requestor: record.requestor, state: flow.status(at: now).rawValue,
      generated: flow.issued, expires: flow.expires, device: record.about.name,
      deviceID: DeviceCode.shownID(of: record.device, record.deviceHash, record.about, to: role),
      address: record.about.address,
      preselected: record.preselected, provider: viewer?.provider, account: viewer?.account,
      app: AppReport(record.about, record.profile))
  }
}
