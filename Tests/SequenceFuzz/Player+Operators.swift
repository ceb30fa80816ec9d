import HTTPServer
import HTTPTestSupport
import PairingService
import PairingStore
import PairingStoreMemory
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Administration

// The acts of operators, and the comparison of their lists with the oracle after every act.
extension Player {
  mutating func approveAsOperator(_ number: Int, _ account: String) async throws {
    guard let (_, code) = code(number) else { return }
    let body = #"{"provider":"\#(Sample.provider)","account":"\#(account)"}"#
    let status = try await admin.send("POST", "/v1/codes/\(code.record)/approve", body).status
    var may = false
    if try await oracle.flow(of: code.id, at: now) != nil {
      let by = ApprovalRequest.By.operator(try named("root"), for: try oracle.viewer(account))
      may = try await oracle.approve(code.id, by, at: now)
    }
    try expect((status == 200) == may, "an operator approves: \(status), expected \(may)")
  }

  mutating func withdrawAsOperator(_ number: Int) async throws {
    guard let (_, code) = code(number) else { return }
    let status = try await admin.send("POST", "/v1/codes/\(code.record)/withdraw").status
    let now = now
    guard let flow = try await oracle.flow(of: code.id, at: now) else {
      return try expect(status >= 400, "an operator withdraws a code that is gone: \(status)")
    }
    // The service may have forgotten a withdrawn code already.
    if status == 404, flow.state == .withdrawn { return }
    let may = await oracle.happens { store throws(StoreError) in
      _ = try await store.withdraw(code.id, .operator, audit: nil, at: now)
    }
    try expect((status == 200) == may, "an operator withdraws: \(status), expected \(may)")
  }

  mutating func signOutAsOperator(_ box: Int) async throws {
    let answer = try await admin.send("DELETE", "/v1/devices?id=\(Box.name(box))")
    let filter = AuthenticationFilter(device: try oracle.hash(box))
    // An expired sign-in does not count, whether it is forgotten yet or not.
    let signIns = try await oracle.store.authentications(filter, after: nil, limit: 1, at: now)
    if answer.status == 200 { _ = try await oracle.store.revoke(filter, audit: nil, at: now) }
    try expect(
      answer.status == (signIns.isEmpty ? 404 : 200), "an operator signs a box out: \(answer.status) \(answer.text)")
  }

  mutating func disable(_ account: String, _ isOn: Bool) async throws {
    let path = "/v1/providers/\(Sample.provider)/account?name=\(account)"
    let answer = try await admin.send("PATCH", path, #"{"disabled":\#(isOn)}"#)
    try expect(answer.status == 200, "an account is changed: \(answer.status) \(answer.text)")
    try await oracle.change(account, at: now) { $0.isDisabled = isOn }
  }

  mutating func integrate(_ isOn: Bool) async throws {
    let path = "/v1/requestors/\(Sample.requestor)/integrations/\(Sample.provider)"
    let answer = try await admin.send("PATCH", path, #"{"enabled":\#(isOn)}"#)
    try expect(answer.status == 200, "an integration is changed: \(answer.status) \(answer.text)")
    try await oracle.integrate(isOn, at: now)
  }

  mutating func denyRule(_ isOn: Bool) async throws {
    let list = "/v1/providers/\(Sample.provider)/entitlements"
    let there = try await items(list).first?["id"]?.string
    if let there, !isOn {
      let answer = try await admin.send("DELETE", "/v1/entitlements/\(there)")
      try expect(answer.status == 200, "a rule is removed: \(answer.status) \(answer.text)")
    } else if there == nil, isOn {
      let answer = try await admin.send("PUT", list, #"{"provider":"\#(Sample.provider)","deny":"*"}"#)
      try expect(answer.status == 200, "a rule is added: \(answer.status) \(answer.text)")
    }
    try await oracle.setDenyRule(isOn, at: now)
  }

  // MARK: - The comparison

  /// Compares the service's lists of codes, sign-ins and browser sessions with those of the oracle.
  func compare() async throws {
    try await compareCodes()
    let filter = AuthenticationFilter()
    let expected = try await oracle.store.authentications(filter, after: nil, limit: .max, at: now).map { record in
      let box = (0..<ActSource.boxes).first { (try? oracle.hash($0)) == record.deviceHash }
      return "\(Box.name(box ?? -1)) \(title(record.authentication.viewer)) \(record.authentication.source)"
    }
    let found = try await items("/v1/sign-ins?limit=500").map {
      "\(text($0, "deviceId")) \(title($0)) \(text($0, "source"))"
    }
    try expect(found.sorted() == expected.sorted(), "signed in: \(found.sorted()), expected \(expected.sorted())")
    let sessions = try await oracle.store.sessions(after: nil, limit: .max, at: now).map { title($0.viewer) }
    let browsers = try await items("/v1/sessions?limit=500").map(title)
    try expect(browsers.sorted() == sessions.sorted(), "browsers: \(browsers.sorted()), expected \(sessions.sorted())")
  }

  private func compareCodes() async throws {
    var found = Dictionary(
      try await items("/v1/codes?limit=500").map { (text($0, "id"), "\(text($0, "state")) \(title($0))") }
    ) { first, _ in first }
    for code in codes.suffix(400) {
      let there = found.removeValue(forKey: code.record)
      guard let flow = try await oracle.flow(of: code.id, at: now) else {
        try expect(there == nil, "a code that must be forgotten is still \(there ?? "")")
        continue
      }
      // The service may forget a withdrawn code at once, because its result is never delivered.
      if there == nil, flow.state == .withdrawn { continue }
      let viewer: Viewer? =
        if case .claimed(let lease) = flow.state { lease.claimer.viewer } else { flow.state.approval?.viewer }
      let expected = "\(flow.status(at: now)) \(viewer.map(title) ?? "-/-")"
      try expect(there == expected, "the code of \(Box.name(code.box)) is \(there ?? "gone"), expected \(expected)")
    }
    try expect(found.isEmpty, "codes that no box asked for: \(found)")
  }

  private func items(_ path: String) async throws -> [JSONValue] {
    let answer = try await admin.send("GET", path)
    try expect(answer.status == 200, "\(path): \(answer.status) \(answer.text)")
    return try JSONValue(reading: answer.body).array ?? []
  }

  private func text(_ value: JSONValue, _ name: String) -> String { value[name]?.string ?? "-" }
  private func title(_ value: JSONValue) -> String { "\(text(value, "provider"))/\(text(value, "account"))" }
  private func title(_ viewer: Viewer) -> String { "\(viewer.provider.text)/\(viewer.account?.text ?? "-")" }
}
