internal import Administration
internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import RegentPairingWire

// Admin routes for invitations, with which new boxes of a requestor get their key pairs.

extension AdminRouteBuilder {
  mutating func mountInvitations() {
    on(.post, AdminPaths.invitations(of: "{requestor}")) { call throws(AdminError) in
      .document(try await call.invite())
    }
    on(.get, AdminPaths.invitations) { call throws(AdminError) in
      let all = try await stored { () throws(StoreError) in try await call.core.store.enrolments(at: call.now) }
      return .list(of: all.map(InvitationEntry.init))
    }
    on(.post, AdminPaths.act(AdminPaths.invitations, "{invitation}", "revoke")) { call throws(AdminError) in
      let id: EnrolmentID = try call.identifier("invitation", "invitation")
      let line = call.entry("invitation.revoke", id.text)
      do throws(StoreError) {
        try await call.core.store.revokeEnrolment(id, audit: line, at: call.now)
      } catch {
        guard case .notFound = error else { throw AdminError(error) }
        throw .missing("invitation", id.text)
      }
      return .done
    }
  }
}

extension AdminCall {
  fileprivate func invite() async throws(AdminError) -> IssuedInvitation {
    let requestor = try requestor().id
    let request = optionalBody
    let uses = try request.whole("uses") ?? 1
    let seconds = try request.whole("seconds") ?? InvitationEntry.usualSeconds
    guard (1...EnrolmentRecord.mostUses).contains(uses) else {
      throw AdminError(.invalid, "an enrolment code must be for 1 to \(EnrolmentRecord.mostUses) boxes")
    }
    guard (60...InvitationEntry.mostSeconds).contains(seconds) else {
      throw AdminError(.invalid, "an enrolment code must be valid for one minute to one day")
    }
    // The random id may be in use already, so several are tried. There are a million ids, of which a few hundred are in
    // use at most.
    for _ in 0..<8 {
      let letters = Random.text(EnrolmentCode.idLength + EnrolmentCode.secretLength, from: EnrolmentCode.alphabet)
      guard let code = EnrolmentCode(letters: letters),
        let key = CodeKey(stretching: Secret(code.secret), salt: code.id.text, purpose: EnrolmentRequest.purpose)
      else { throw Self.notCreated }
      let record = EnrolmentRecord(
        id: code.id, requestor: requestor, secret: StoredSecret(key.secret.exposedBytes()), uses: uses, created: now,
        expires: now + .seconds(seconds))
      let line = entry("requestor.invite", requestor.text, detail: "\(code.id) for \(uses)")
      do throws(StoreError) {
        try await core.store.invite(record, audit: line, at: now)
      } catch {
        if case .codeTaken = error { continue }
        guard case .tooManyLiveCodes(let limit) = error else { throw AdminError(error) }
        throw AdminError(
          .refused, "\(requestor) already has \(limit) enrolment codes: wait until one expires, or revoke one")
      }
      return IssuedInvitation(
        id: code.id, code: code.display, service: core.options.publicURL, uses: Int64(uses), expires: record.expires)
    }
    throw Self.notCreated
  }

  private static let notCreated = AdminError(
    .failed, "the service could not create an enrolment code", hint: "run the command again")
}

extension InvitationEntry {
  fileprivate init(_ record: EnrolmentRecord) {
    self.init(
      id: record.id, requestor: record.requestor, uses: Int64(record.uses), boxes: record.boxes.values.sorted(),
      created: record.created, expires: record.expires)
  }
}

extension JSONObject {
  func whole(_ name: String) throws(AdminError) -> Int? {
    try shaped { () throws(JSONShapeError) in try optionalInt64(name) }.map { Int(clamping: $0) }
  }
}
