import RegentHTTPCodec
import RegentJSON
public import RegentPairing

extension AdminClient {
  /// The registration codes that the service has not deleted yet, in every state.
  public func codes() async throws(AdminError) -> [CodeEntry] {
    try await wholeList(AdminPaths.codes) { (code: CodeEntry) in code.id.text }
  }

  /// Finds a registration code by its letters on the screen or by its record's id.
  public func code(_ code: String) async throws(AdminError) -> CodeEntry {
    try await document(.get, AdminPaths.one(AdminPaths.codes, segment(code)))
  }

  public func withdraw(_ code: String) async throws(AdminError) -> CodeEntry {
    try await document(.post, AdminPaths.act(AdminPaths.codes, segment(code), "withdraw"))
  }

  /// Approves a registration code on behalf of a viewer who cannot do it.
  public func approve(_ code: String, for viewer: CodeApproval) async throws(AdminError)
    -> CodeEntry
  {
    try await document(
      .post, AdminPaths.act(AdminPaths.codes, segment(code), "approve"), viewer.object)
  }

  /// Requests the sign-ins of devices, page by page.
  public func signIns(
    of requestor: RequestorID? = nil, _ take: ([SignInEntry]) -> Void
  ) async throws(AdminError) {
    try await pages(
      AdminPaths.signIns, query: [("requestor", requestor?.text)],
      after: { (signIn: SignInEntry) in signIn.id.text }, take)
  }

  public func signIn(_ id: AuthenticationID) async throws(AdminError) -> SignInEntry {
    try await document(.get, AdminPaths.one(AdminPaths.signIns, id.text))
  }

  /// The sign-ins of one device, found by its short name or the id that it calls itself.
  public func device(_ id: String) async throws(AdminError) -> [SignInEntry] {
    try await list(AdminPaths.devices, query: [("id", id)])
  }

  /// The results of all checks that decide whether a device may watch, in order; with `title`, whether it may watch
  /// that title.
  public func why(_ id: String, title: String?) async throws(AdminError) -> [Finding] {
    try await list(AdminPaths.why, query: [("id", id), ("resource", title)])
  }

  /// Sets the name that an operator gives a device; nil removes the name.
  public func renameDevice(_ id: String, _ name: String?) async throws(AdminError) {
    try await act(
      .patch, AdminPaths.devices, query: [("id", id)],
      ["name": name.map(JSONValue.string) ?? .null])
  }

  /// Signs a device out at all requestors, and returns how many sign-ins ended.
  public func signOutDevice(_ id: String) async throws(AdminError) -> CountDocument {
    try await document(.delete, AdminPaths.devices, query: [("id", id)])
  }

  /// The boxes that share their sign-in with apps.
  public func boxes() async throws(AdminError) -> [BoxEntry] {
    try await wholeList(AdminPaths.boxes) { (box: BoxEntry) in box.id.text }
  }

  public func box(_ id: BoxID) async throws(AdminError) -> BoxEntry {
    try await document(.get, AdminPaths.one(AdminPaths.boxes, id.text))
  }

  /// Ends a box's own sign-in, and with it the sign-ins of its apps; returns the box as it was before.
  public func signOutBox(_ id: BoxID) async throws(AdminError) -> BoxEntry {
    try await document(.post, AdminPaths.act(AdminPaths.boxes, id.text, "sign-out"))
  }

  /// The browser sessions of an account, at one provider or at every provider that has an account of this name.
  public func sessions(of account: AccountName, at provider: ProviderID?)
    async throws(AdminError) -> [SessionEntry]
  {
    try await list(
      AdminPaths.sessions, query: [("account", account.text), ("provider", provider?.text)])
  }

  public func sessions() async throws(AdminError) -> [SessionEntry] {
    try await wholeList(AdminPaths.sessions) { (session: SessionEntry) in session.id.text }
  }

  public func session(_ id: SessionID) async throws(AdminError) -> SessionEntry {
    try await document(.get, AdminPaths.one(AdminPaths.sessions, id.text))
  }

  /// Ends a browser session, and returns it as it was before.
  public func endSession(_ id: SessionID) async throws(AdminError) -> SessionEntry {
    try await document(.post, AdminPaths.act(AdminPaths.sessions, id.text, "end"))
  }

  /// Ends one sign-in with its permits.
  public func revokeToken(_ id: AuthenticationID) async throws(AdminError) -> SignInEntry {
    try await document(.post, AdminPaths.act(AdminPaths.signIns, id.text, "revoke"))
  }

  /// Asks the service to verify a media token.
  public func verify(_ question: TokenQuestion) async throws(AdminError) -> TokenVerdict {
    try await document(.post, AdminPaths.verifyToken, question.object)
  }

  /// Requests the temporary passes in use, page by page.
  public func passes(
    of requestor: RequestorID?, at provider: ProviderID?, _ take: ([PassEntry]) -> Void
  ) async throws(AdminError) {
    try await pages(
      AdminPaths.passes, query: [("requestor", requestor?.text), ("provider", provider?.text)],
      after: { (pass: PassEntry) in pass.place }, take)
  }

  /// Resets temporary passes, so that they can be used again in full; returns how many were reset.
  public func resetPass(_ reset: PassReset) async throws(AdminError) -> CountDocument {
    try await document(.post, AdminPaths.resetPass, reset.object)
  }
}
