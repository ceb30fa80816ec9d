internal import Administration
internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

// Admin routes for initial access tokens, with which OAuth clients register themselves.

extension AdminRouteBuilder {
  mutating func mountClientInvitations() {
    on(.post, AdminPaths.clientInvitations(of: "{requestor}")) { call throws(AdminError) in
      .document(try await call.inviteClients())
    }
    on(.get, AdminPaths.clientInvitations) { call throws(AdminError) in
      let all = try await stored { () throws(StoreError) in
        try await call.core.store.clientInvitations(at: call.now)
      }
      return .list(of: all.map(ClientInvitationEntry.init))
    }
    on(.post, AdminPaths.act(AdminPaths.clientInvitations, "{invitation}", "revoke")) { call throws(AdminError) in
      let id: EnrolmentID = try call.identifier("invitation", "invitation")
      let line = call.entry("client.uninvite", id.text)
      do throws(StoreError) {
        try await call.core.store.revokeClientInvitation(id, audit: line, at: call.now)
      } catch {
        guard case .notFound = error else { throw AdminError(error) }
        throw .missing("invitation", id.text)
      }
      return .done
    }
  }
}

extension AdminCall {
  fileprivate func inviteClients() async throws(AdminError) -> IssuedClientInvitation {
    let requestor = try requestor()
    let request = optionalBody
    let uses = try request.whole("uses") ?? 1
    let seconds = try request.whole("seconds") ?? ClientInvitationEntry.usualSeconds
    guard (1...ClientInvitationRecord.mostUses).contains(uses) else {
      throw AdminError(.invalid, "a registration token must be for 1 to \(ClientInvitationRecord.mostUses) clients")
    }
    guard (60...ClientInvitationEntry.mostSeconds).contains(seconds) else {
      throw AdminError(.invalid, "a registration token must be valid for one minute to one year")
    }
    guard requestor.registration != .closed else {
      throw AdminError(
        .refused, "clients may not register themselves with \(requestor.id)",
        hint: "to allow it, run regentctl requestor set \(requestor.id) --registration statement")
    }
    let token = Random.token()
    guard let id = EnrolmentID(Random.text(8, from: "0123456789abcdef")) else {
      throw AdminError(.failed, "the service could not create an id", hint: "run the command again")
    }
    let record = ClientInvitationRecord(
      id: id, requestor: requestor.id, token: core.hasher.token(token), uses: uses, created: now,
      expires: now + .seconds(seconds))
    let line = entry("client.invite", requestor.id.text, detail: "\(id) for \(uses)")
    do throws(StoreError) {
      try await core.store.invite(record, audit: line, at: now)
    } catch {
      guard case .tooManyLiveCodes(let limit) = error else { throw AdminError(error) }
      throw AdminError(
        .refused, "\(requestor.id) already has \(limit) registration tokens: wait until one expires, or revoke one")
    }
    return IssuedClientInvitation(
      id: id, token: token, issuer: core.oauth.metadata.issuer, uses: Int64(uses), expires: record.expires)
  }
}

extension ClientInvitationEntry {
  fileprivate init(_ record: ClientInvitationRecord) {
    self.init(
      id: record.id, requestor: record.requestor, uses: Int64(record.uses), used: Int64(record.used),
      created: record.created, expires: record.expires)
  }
}
