import RegentHTTPClient
import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import Administration

@Suite struct `The admin client` {
  @Test func `without a service the error says how to start one`() async throws {
    let admin = AdminClient(
      socket: "/nonexistent/admin.sock", client: Client(ClientConfiguration { 0 }))
    await #expect {
      try await admin.requestors()
    } throws: { error in
      let error = error as? AdminError
      return error?.code == .notRunning && error?.hint?.contains("regentd serve") == true
    }
  }

  @Test func `an error of the service reaches the caller unchanged`() async throws {
    let refusal = AdminError(
      .different, "there is another acme", hint: "use set",
      differences: [Difference(member: "name", stored: "A", wanted: "B")])
    try await withAnswers { _ in
      Response(.conflict, type: "application/json", body: refusal.object.bytes())
    } _: { admin in
      await #expect(throws: refusal) {
        try await admin.add(Samples.requestor.id, Patch(Samples.requestor))
      }
    }
  }

  @Test(arguments: ["", "[", "{}", "[1]", "[{}]"])
  func `a malformed response is an error`(body: String) async throws {
    try await withAnswers { _ in
      Response(.ok, type: "application/json", body: Array(body.utf8))
    } _: { admin in
      await #expect(throws: AdminError.self) { try await admin.requestors() }
    }
  }

  @Test func `a busy service gives an error that says to try again`() async throws {
    try await withAnswers { _ in
      .text(.serviceUnavailable, "No more connections.\n")
    } _: { admin in
      await #expect {
        try await admin.requestors()
      } throws: { error in
        let error = error as? AdminError
        return error?.code == .unavailable && error?.hint?.hasPrefix("try again") == true
      }
    }
  }

  @Test func `long lists are fetched page by page`() async throws {
    let asked = Locked<[String]>([])
    try await withAnswers { request in
      let target = String(decoding: request.target, as: UTF8.self)
      asked.withLock { $0.append(target) }
      let count = target.contains("after=") ? 3 : AdminPaths.page
      let page = (0..<count).map { number in
        JSONValue.object(["provider": "cable", "name": .string("a\(number)/&")])
      }
      return Response(.ok, type: "application/json", body: JSONValue.array(page).bytes())
    } _: { admin in
      let accounts = try await admin.accounts(of: Samples.provider.id)
      #expect(accounts.count == AdminPaths.page + 3)
    }
    #expect(
      asked.withLock { $0 } == [
        "/v1/providers/cable/accounts?limit=500",
        "/v1/providers/cable/accounts?after=a499%2F%26&limit=500",
      ])
  }

  @Test(arguments: [true, false])
  func `sign-ins are filtered by the service, or by the client when an older service does not filter`(
    isOfToday: Bool
  ) async throws {
    let asked = Locked<[String]>([])
    let all = (1000..<2200).map { number in
      SignInEntry(
        id: Identifier("id-\(number)")!, device: "d", deviceID: "d", requestor: Samples.requestor.id,
        provider: Samples.provider.id, account: Identifier(number.isMultiple(of: 100) ? "anna" : "bert")!,
        source: "regular", issued: Instant(milliseconds: Int64(number)), expires: Instant(milliseconds: 9999))
    }
    try await withAnswers { request in
      let target = String(decoding: request.target, as: UTF8.self)
      asked.withLock { $0.append(target) }
      let words = target.split(separator: "&")
      let after = words.first { $0.hasPrefix("after=") }.map { String($0.dropFirst(6)) } ?? ""
      let limit = words.last.flatMap { Int($0.dropFirst("limit=".count)) } ?? 0
      let page = all.filter {
        $0.id.text > after && (!isOfToday || $0.account?.text == "anna" && $0.issued.milliseconds >= 1100)
      }.prefix(limit)
      return Response(.ok, type: "application/json", body: JSONValue.array(page.map(\.json)).bytes())
    } _: { admin in
      var filter = SignInFilter()
      filter.account = Identifier("anna")
      filter.since = Instant(milliseconds: 1100)
      var found: [String] = []
      let next = try await admin.signIns(filter, limit: 9) { found += $0.map(\.id.text) }
      #expect(found == (11...19).map { "id-\($0)00" })
      #expect(next?.text == "id-1900")
      #expect(try await admin.signIns(filter, after: next, limit: 9) { found += $0.map(\.id.text) } == nil)
      #expect(found == (11...21).map { "id-\($0)00" })
    }
    let first = "/v1/sign-ins?account=anna&since=1100"
    #expect(
      asked.withLock { $0 }
        == (isOfToday
          ? ["\(first)&limit=9", "\(first)&after=id-1900&limit=9"]
          : ["\(first)&limit=9", "\(first)&after=id-1008&limit=500", "\(first)&after=id-1508&limit=500"]
            + ["\(first)&after=id-1900&limit=9", "\(first)&after=id-1909&limit=500"]))
  }

  @Test(arguments: ["a/b", "..", "", "a%2fb", "é"])
  func `a code is encoded so that the request stays within the codes path`(code: String) async throws {
    try await withAnswers { request in
      let path = String(decoding: request.path, as: UTF8.self)
      #expect(path.hasPrefix("/v1/codes/") && path.split(separator: "/").count == 3)
      return Response(.notFound)
    } _: { admin in
      await #expect(throws: AdminError.self) { try await admin.code(code) }
    }
  }
}

/// Runs `body` with a client of a server that gives every request the same answer.
private func withAnswers(
  _ answer: @escaping @Sendable (Request) -> Response, _ body: (AdminClient) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let handler = ClosureHandler { request in .now(answer(request)) }
    let server = try Server([
      Listener(.local(path: "\(folder)/admin.sock", mode: 0o600, group: nil), handler: handler)
    ])
    defer { server.stop() }
    let client = Client(ClientConfiguration(wallClock: Clocks.wallMilliseconds))
    try await body(AdminClient(socket: "\(folder)/admin.sock", client: client))
  }
}
