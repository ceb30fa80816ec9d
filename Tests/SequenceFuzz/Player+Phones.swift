import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentJSON
import RegentPairing
import ServiceTestSupport

// The acts of phones: the forms of the pages, in any order, and what each form must do in the oracle.
extension Player {
  /// Sends a form of a code's page, with the form token of a page that this browser has just received.
  private mutating func send(
    _ phone: Int, _ path: String, _ fields: [String: String] = [:]
  ) async throws -> TestResponse {
    try await phones[phone].page.open("/")
    let token = phones[phone].page.formToken
    let answer = try await phones[phone].page.post(path, fields.merging(["csrf": token]) { $1 })
    let now = now
    // Every accepted form counts as use of the session.
    if let session = try await oracle.session(phones[phone].session, at: now) {
      _ = await oracle.happens { store throws(StoreError) in try await store.touchSession(session.id, at: now) }
    } else {
      phones[phone].session = nil
    }
    try expect(answer.status < 500 || answer.status == 503, "a form: \(answer.status) \(answer.text)")
    return answer
  }

  private mutating func send(
    _ phone: Int, _ code: Code, _ step: String, _ fields: [String: String] = [:]
  ) async throws -> TestResponse {
    try await send(phone, "/D/\(code.text)/\(step)", fields)
  }

  private func session(_ phone: Int) async throws -> SessionRecord? {
    try await oracle.session(phones[phone].session, at: now)
  }

  /// Whether this browser has opened the code and the code is pending.
  private func pending(_ phone: Int, _ place: Int) async throws -> Bool {
    guard phones[phone].opened.contains(place) else { return false }
    return try await isPending(codes[place])
  }

  /// The session of a browser that may approve or deny a code.
  private func decider(_ phone: Int, _ place: Int) async throws -> SessionID? {
    guard try await pending(phone, place), let session = try await session(phone) else { return nil }
    guard try await isChoice(session.viewer.provider) else { return nil }
    let holder = try await oracle.holder(of: codes[place].id, at: now)
    return holder == nil || holder == session.id ? session.id : nil
  }

  private func isChoice(_ provider: ProviderID) async throws -> Bool {
    if provider == oracle.local { return try await oracle.isIntegrated() }
    return provider == oracle.pass
  }

  /// Claims the code, unless this session holds it already.
  private func keepLease(_ code: Code, _ session: SessionID) async throws -> Bool {
    if try await oracle.holder(of: code.id, at: now) == session { return true }
    return await oracle.claim(code.id, by: session, at: now)
  }

  // MARK: - Opening and signing in

  mutating func open(_ phone: Int, _ number: Int) async throws {
    guard let (place, code) = code(number) else { return }
    let answer = try await send(phone, code, "open")
    if isRefused(answer) { return }
    guard let flow = try await oracle.flow(of: code.id, at: now) else { return }
    // The service may forget a code early when it is no longer pending; then the page is "no such code".
    if answer.status == 404, !flow.state.isPending { return }
    phones[phone].opened.removeAll { $0 == place }
    phones[phone].opened = Array(([place] + phones[phone].opened).prefix(4))
    guard flow.state.isPending else { return }
    let now = now
    _ = await oracle.happens { store throws(StoreError) in _ = try await store.open(code.id, at: now) }
    if let session = try await session(phone), session.viewer.account != nil,
      try await isChoice(session.viewer.provider)
    {
      _ = await oracle.claim(code.id, by: session.id, at: now)
    }
  }

  mutating func signIn(_ phone: Int, _ number: Int, _ account: String, _ isRight: Bool) async throws {
    guard let (place, code) = code(number) else { return }
    let before = phones[phone].page.cookie("session")
    let answer = try await send(
      phone, code, "sign-in?provider=\(Sample.provider)",
      ["user": account, "password": isRight ? Sample.password : "something else"])
    if isRefused(answer) { return }
    let isNew = phones[phone].page.cookie("session") != before
    let isDisabled = try await oracle.isDisabled(account)
    let isIntegrated = try await oracle.isIntegrated()
    let isPending = try await pending(phone, place)
    let may = isPending && isIntegrated && isRight && !isDisabled
    try expect(isNew == may, "signed in as \(account): \(isNew), expected \(may): \(answer.status)")
    guard may else { return }
    try await start(phone, try oracle.viewer(account))
    if let session = phones[phone].session { _ = await oracle.claim(code.id, by: session, at: now) }
  }

  /// Starts a session and ends the browser's earlier one.
  private mutating func start(_ phone: Int, _ viewer: Viewer) async throws {
    if let earlier = phones[phone].session { try await oracle.end(earlier, at: now) }
    phones[phone].session = try await oracle.start(viewer, at: now)
  }

  mutating func enterAsGuest(_ phone: Int, _ number: Int) async throws {
    guard let (place, code) = code(number) else { return }
    let answer = try await send(phone, code, "provider", ["provider": Sample.pass])
    if isRefused(answer) { return }
    guard try await pending(phone, place) else { return }
    let holder = try await oracle.holder(of: code.id, at: now)
    if let holder, holder != phones[phone].session { return }
    try await start(phone, Viewer(provider: oracle.pass, account: nil))
    guard let session = phones[phone].session else { return }
    if await oracle.claim(code.id, by: session, at: now) { return }
    try await oracle.end(session, at: now)
    phones[phone].session = nil
  }

  // MARK: - The decision

  mutating func approve(_ phone: Int, _ number: Int) async throws {
    guard let (place, code) = code(number) else { return }
    let answer = try await send(phone, code, "approve")
    if isRefused(answer) { return }
    guard let session = try await decider(phone, place), try await keepLease(code, session) else { return }
    // A code with a number is approved on the page of the number.
    if !code.matches { _ = try await oracle.approve(code.id, by: session, picked: nil, at: now) }
  }

  mutating func pick(_ phone: Int, _ number: Int, _ isRight: Bool) async throws {
    guard let (place, code) = code(number) else { return }
    let shown = try await shownNumber(code)
    _ = try await phones[phone].page.open("/D/\(code.text)/number")
    let picked = isRight ? shown : shown.map { $0 == 99 ? 10 : $0 + 1 }
    // 7 has one digit, so no screen shows it; the service ignores it.
    let answer = try await send(phone, code, "number", ["number": picked.map(String.init) ?? "7"])
    if isRefused(answer) { return }
    guard let session = try await decider(phone, place), code.matches, picked != nil else { return }
    guard try await keepLease(code, session) else { return }
    _ = try await oracle.approve(code.id, by: session, picked: isRight, at: now)
  }

  /// The number that the box shows now, if any.
  private func shownNumber(_ code: Code) async throws -> Int? {
    let path = "/reggie/v1/REF30/regcode/\(code.text).json?deviceId=\(Box.name(code.box))"
    let answer = try await service.call(client, "GET", path)
    guard answer.status == 200 else { return nil }
    return try JSONValue(reading: answer.body)["match"]?.int64.map { Int($0) }
  }

  mutating func deny(_ phone: Int, _ number: Int) async throws {
    guard let (place, code) = code(number) else { return }
    let answer = try await send(phone, code, "deny")
    if isRefused(answer) { return }
    guard let session = try await decider(phone, place), try await keepLease(code, session) else { return }
    let now = now
    _ = await oracle.happens { store throws(StoreError) in
      _ = try await store.deny(code.id, by: session, audit: nil, at: now)
    }
  }

  mutating func renew(_ phone: Int, _ number: Int) async throws {
    guard let (place, code) = code(number) else { return }
    let answer = try await send(phone, code, "renew")
    if isRefused(answer) { return }
    guard try await pending(phone, place), let session = try await session(phone)?.id else { return }
    guard try await keepLease(code, session) else { return }
    let now = now
    _ = await oracle.happens { store throws(StoreError) in _ = try await store.renew(code.id, by: session, at: now) }
  }

  mutating func release(_ phone: Int, _ number: Int) async throws {
    guard let (place, code) = code(number) else { return }
    let answer = try await send(phone, code, "release")
    if isRefused(answer) { return }
    guard try await pending(phone, place), let session = try await session(phone)?.id else { return }
    let now = now
    _ = await oracle.happens { store throws(StoreError) in
      _ = try await store.release(code.id, by: session, at: now)
    }
  }

  mutating func leave(_ phone: Int) async throws {
    let answer = try await send(phone, "/sign-out")
    if isRefused(answer) { return }
    if let session = phones[phone].session { try await oracle.end(session, at: now) }
    phones[phone].session = nil
  }

  /// Sends an approval with the form token of another browser, which the service must refuse.
  mutating func forge(_ phone: Int, _ number: Int) async throws {
    guard let (_, code) = code(number) else { return }
    let other = (phone + 1) % phones.count
    try await phones[other].page.open("/")
    let token = phones[other].page.formToken
    let answer = try await phones[phone].page.post("/D/\(code.text)/approve", ["csrf": token])
    if isRefused(answer) { return }
    try expect(answer.status >= 400, "a form with another browser's token was accepted: \(answer.status)")
  }
}
