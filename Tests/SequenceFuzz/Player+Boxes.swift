import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentJSON
import RegentPairing
import ServiceTestSupport

enum Box {
  static func name(_ number: Int) -> String { "box-\(number)" }
}

// The acts of boxes, as signed calls.
extension Player {
  private func call(
    _ method: String, _ path: String, box: Int, _ more: String = ""
  ) async throws -> TestResponse {
    try await service.call(client, method, "\(path).json?deviceId=\(Box.name(box))\(more)")
  }

  mutating func offer(_ box: Int, _ matches: Bool, _ seconds: Int) async throws {
    let more = "&ttl=\(seconds)\(matches ? "&match=number" : "")"
    let answer = try await call("POST", "/reggie/v1/REF30/regcode", box: box, more)
    if isRefused(answer) { return }
    try expect(answer.status == 201, "a new code: \(answer.status) \(answer.text)")
    let document = try JSONValue(reading: answer.body)
    guard let text = document["code"]?.string, let record = document["id"]?.string else {
      throw Difference("a new code without letters or id: \(answer.text)")
    }
    let id = try await oracle.offer(codes.count, box: box, matches: matches, seconds: seconds, at: now)
    codes.append(Code(text: text, record: record, id: id, box: box, matches: matches))
  }

  mutating func read(_ number: Int) async throws {
    guard let (_, code) = code(number) else { return }
    let answer = try await call("GET", "/reggie/v1/REF30/regcode/\(code.text)", box: code.box)
    if isRefused(answer) { return }
    // A code whose record has expired is still known until the next clean-up, seconds later.
    guard let flow = try await oracle.flow(of: code.id, at: now) else { return }
    let expected: UInt16 =
      switch DeviceAnswer(flow, at: now) {
      case .pending, .approved: 200
      case .denied: 403
      case .expired: 410
      case .unknown: 404
      }
    try expect(answer.status == expected, "the record of a code: \(answer.status), expected \(expected)")
    guard expected == 200 else { return }
    let document = try JSONValue(reading: answer.body)
    try expect(
      document["state"]?.string == flow.status(at: now).rawValue, "\(answer.text) where \(flow.status(at: now)) is")
    try expect(
      document["sequence"]?.int64 == Int64(flow.sequence), "\(answer.text) where the sequence is \(flow.sequence)")
  }

  mutating func poll(_ box: Int) async throws {
    let answer = try await call("GET", "/api/v1/tokens/authn", box: box)
    if isRefused(answer) { return }
    let signIn = try await oracle.pickUp(box, at: now)
    try expect((answer.status == 200) == (signIn != nil), "a poll: \(answer.status), signed in: \(signIn != nil)")
    guard let signIn else {
      return try expect([403, 404, 410].contains(answer.status), "a poll: \(answer.status)")
    }
    let provider = try JSONValue(reading: answer.body)["mvpd"]?.string
    try expect(provider == signIn.provider.id.text, "signed in at \(provider ?? "nothing"): \(answer.text)")
  }

  mutating func authorize(_ box: Int, _ title: String) async throws {
    let answer = try await call("GET", "/api/v1/authorize", box: box, "&resource=\(title)")
    if isRefused(answer) { return }
    var may = false
    if let signIn = try await oracle.pickUp(box, at: now) {
      may = try await oracle.authorizes(title, for: signIn, at: now)
    }
    try expect((answer.status == 200) == may, "may watch \(title): \(answer.status), expected \(may)")
  }

  mutating func media(_ box: Int, _ title: String) async throws {
    let answer = try await call("GET", "/api/v1/tokens/media", box: box, "&resource=\(title)")
    if isRefused(answer) { return }
    var may = false
    if let signIn = try await oracle.pickUp(box, at: now), try await oracle.permits(title, for: signIn) {
      may = try await oracle.holdsPermit(title, signIn, at: now)
    }
    try expect((answer.status == 200) == may, "a media token for \(title): \(answer.status), expected \(may)")
  }

  mutating func signOut(_ box: Int) async throws {
    let answer = try await call("DELETE", "/api/v1/logout", box: box)
    if isRefused(answer) { return }
    try expect(answer.status == 204, "a sign-out: \(answer.status)")
    _ = try await oracle.store.signOut(requestor: oracle.requestor, device: try oracle.hash(box), at: now)
  }

  mutating func takeBack(_ number: Int) async throws {
    guard let (_, code) = code(number) else { return }
    let answer = try await call("DELETE", "/reggie/v1/REF30/regcode/\(code.text)", box: code.box)
    if isRefused(answer) { return }
    let isKnown = try await oracle.flow(of: code.id, at: now) != nil
    let isPending = try await isPending(code)
    // The service may forget a code early when it is no longer pending.
    try expect(
      answer.status == 204 || answer.status == 404 && !isPending, "a code is taken back: \(answer.status)")
    guard isKnown, answer.status == 204 else { return }
    let now = now
    _ = await oracle.happens { store throws(StoreError) in
      _ = try await store.withdraw(code.id, .device, audit: nil, at: now)
    }
  }

  func isPending(_ code: Code) async throws -> Bool {
    try await oracle.flow(of: code.id, at: now)?.state.isPending ?? false
  }
}

func expect(_ isSo: Bool, _ otherwise: @autoclosure () -> String) throws {
  guard isSo else { throw Difference(otherwise()) }
}
