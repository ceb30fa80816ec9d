import RegentHTTPCodec
import HTTPTestSupport
import RegentJSON
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

private func accept(_ value: String) -> [(name: String, value: String)] { [("Accept", value)] }

@Suite struct `Texts that take long to compare` {
  // Before the limit, each of these requests took up to two seconds of an event loop, before authentication.
  private static let marks = String(repeating: "%CC%81", count: 100) + String(repeating: "%CC%A7", count: 100)

  @Test(arguments: [
    ("POST", "/oauth/token"), ("POST", "/oauth/device_authorization"), ("POST", "/o/client/token"), ("POST", "/code"),
    ("GET", "/api/v1/config/REF30.json"), ("POST", "/reggie/v1/REF30/regcode.json"), ("POST", "/language"),
  ])
  func `a form with many combining marks in a row is refused`(method: String, path: String) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try await service.phoneRouter()) { client in
      for form in ["\(Self.marks)=1", "client_id=x&grant_type=\(Self.marks)", "format=\(Self.marks)"] {
        let request = TestRequest(
          method, path, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
        let answer = try await client.send(request)
        #expect((400...499).contains(answer.status), "\(form.prefix(30)): \(answer.status)")
      }
    }
  }

  @Test func `a path with many combining marks in a row is not found`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.get("/api/v1/config/\(Self.marks)")
      #expect(answer.status == 400 || answer.status == 404)
    }
  }
}

@Suite struct `Response formats` {
  @Test(
    arguments: [
      ("/api/v1/config/REF30", nil, WireFormat.xml),
      ("/api/v1/config/REF30.json", nil, .json),
      ("/api/v1/config/REF30.xml", nil, .xml),
      ("/api/v1/config/REF30?format=json", nil, .json),
      ("/api/v1/config/REF30?format=JSON", nil, .json),
      ("/api/v1/config/REF30?format=xml", "application/json", .xml),
      ("/api/v1/config/REF30.json?format=xml", "application/xml", .json),
      ("/api/v1/config/REF30?format=pdf", nil, .xml),
      ("/api/v1/config/REF30?format=pdf", "application/json", .json),
      ("/api/v1/config/REF30?format=", "application/json", .json),
      ("/api/v1/config/REF30", "application/json", .json),
      ("/api/v1/config/REF30", "application/json;charset=utf-8", .xml),
      ("/api/v1/config/REF30", "application/xml", .xml),
      ("/api/v1/config/REF30", "text/xml", .xml),
      ("/api/v1/config/REF30", "*/*", .xml),
      ("/api/v1/config/REF30?format=json", "*/*", .json),
      ("/api/v1/config/REF30", "application/json, text/plain, */*", .json),
      (
        "/api/v1/config/REF30", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        .xml
      ),
      ("/api/v1/config/REF30", "application/json;q=0.5, application/xml", .xml),
      ("/api/v1/config/REF30", "application/json, application/xml", .xml),
      ("/api/v1/config/REF30", "application/*", .xml),
      ("/api/v1/config/REF30", "image/png", .xml),
      ("/api/v1/config/REF30", ";;;", .xml),
    ] as [(String, String?, WireFormat)])
  func `the suffix, then the format parameter, then the Accept header select the format`(
    target: String, accepted: String?, format: WireFormat
  )
    async throws
  {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await service.call(
        client, "GET", target, headers: accepted.map(accept) ?? [])
      #expect(answer.status == 200)
      #expect(answer.header("content-type") == format.contentType)
      #expect(answer.text.hasPrefix(format == .json ? "{" : "<"))
      #expect(answer.header("cache-control") == "no-store")
      // A refusal has the same format.
      let refused = try await client.get(target, headers: accepted.map(accept) ?? [])
      #expect(refused.status == 401)
      #expect(refused.header("content-type") == format.contentType)
    }
  }

  @Test(
    arguments: [
      ("GET", "/api/v1/nothing.json", 404, true), ("GET", "/api/v1/nothing?format=json", 404, true),
      ("GET", "/o/client/nothing", 404, false), ("PUT", "/api/v1/checkauthn.json", 405, true),
      ("PATCH", "/reggie/v1/REF30/regcode", 405, false),
      ("GET", "/api/v1/config/%FF.json", 400, true), ("GET", "/api/v1/../x.json", 400, true),
    ] as [(String, String, UInt16, Bool)])
  func `a request that no route matches gets an error document in the format of its path`(
    method: String, target: String, status: UInt16, isJSON: Bool
  )
    async throws
  {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.send(TestRequest(method, target))
      #expect(answer.status == status)
      #expect(answer.header("cache-control") == "no-store")
      if isJSON {
        #expect(try answer.json().int64("status") == Int64(status))
      } else {
        #expect(answer.text.contains("<error><status>\(status)</status>"))
      }
    }
  }
}

@Suite struct `Request parameters and device information` {
  @Test(
    arguments: [
      ("?deviceId=a", [], 201), ("", [("deviceId", "a")], 201),
      ("?deviceId=a", [("ttl", "60"), ("requestor", "REF30")], 201),
      ("?deviceId=a", [("deviceId", "a")], 400), ("?deviceId=a&deviceId=b", [], 400),
      ("", [("deviceId", "a"), ("deviceId", "a")], 400), ("", [], 400), ("?deviceId=", [], 400),
      ("?deviceId=a&requestor=OTHER", [], 400), ("?deviceId=a&requestor_id=OTHER", [], 400),
      ("?deviceId=a&requestor_id=REF30", [], 201), ("?deviceId=%00", [], 400),
      ("?deviceId=%zz", [], 400), ("?deviceId=%E2%80%AE", [], 400),
      ("?deviceId=a&ttl=36000", [], 201), ("?deviceId=a&ttl=36001", [], 400),
      ("?deviceId=a&ttl=0", [], 400), ("?deviceId=a&ttl=-1", [], 400),
      ("?deviceId=a&ttl=x", [], 400), ("?deviceId=a&ttl=", [], 201),
      ("?deviceId=a&ttl=99999999999999999999", [], 400), ("?deviceId=a&mvpd=nobody", [], 400),
      ("?deviceId=a&mvpd=local", [], 201), ("?deviceId=a&format=json&format=json", [], 400),
      ("?deviceId=\(String(repeating: "a", count: 512))", [], 201),
      ("?deviceId=\(String(repeating: "a", count: 513))", [], 400),
    ] as [(String, [(String, String)], UInt16)])
  func `a parameter given twice, or with an invalid value, is refused in the query and in the form`(
    query: String, form: [(String, String)], status: UInt16
  ) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let path = "/reggie/v1/REF30/regcode"
      let answer = try await client.post(
        path + query, form: form.map { (name: $0.0, value: $0.1) },
        headers: [try service.signature("POST", path)])
      #expect(answer.status == status)
    }
  }

  @Test func `a path with another requestor than that of the credentials is refused`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await service.call(client, "GET", "/api/v1/config/OTHER.json")
      #expect(answer.status == 400)
    }
  }

  @Test(arguments: [
    // Base64 of {"primaryHardwareType":"SetTopBox","model":"M1","osName":"Linux"}
    "eyJwcmltYXJ5SGFyZHdhcmVUeXBlIjoiU2V0VG9wQm94IiwibW9kZWwiOiJNMSIsIm9zTmFtZSI6IkxpbnV4In0=",
    "eyJwcmltYXJ5SGFyZHdhcmVUeXBlIjoiU2V0VG9wQm94IiwibW9kZWwiOiJNMSIsIm9zTmFtZSI6IkxpbnV4In0",
    "eyJwcmltYXJ5SGFyZHdhcmVUeXBlIjoiU2V0VG9wQm94IiwibW9kZWwiOiJNMSIsIm9zTmFtZSI6IkxpbnV4In0%3D",
  ])
  func `device information is read in standard, unpadded and percent-encoded Base64`(value: String) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let path = "/api/v1/config/REF30.json"
      let inHeader = try await service.call(
        client, "GET", path, headers: [("X-Device-Info", value)])
      #expect(try inHeader.json().string("device") == "SetTopBox")
      let inQuery = try await service.call(client, "GET", "\(path)?device_info=\(value)")
      #expect(try inQuery.json().string("os") == "Linux")
    }
  }

  @Test(arguments: [
    "", "%%%", "bm90IGpzb24=", "W10=", "e30=", "\u{7F}", String(repeating: "A", count: 9000),
  ])
  func `malformed device information is never an error`(value: String) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.post(
        "/reggie/v1/REF30/regcode.json", form: [("deviceId", "a"), ("device_info", value)],
        headers: [
          try service.signature("POST", "/reggie/v1/REF30/regcode.json"),
          ("User-Agent", "Mozilla/5.0 (SMART-TV; LINUX; Tizen 5.0)"),
        ])
      #expect(answer.status == 201)
      let information = try #require(try answer.json()["info"]?["deviceInfo"]?.string)
      #expect(!information.isEmpty)
    }
  }
}

@Suite struct `Enhanced errors` {
  @Test func `enhanced errors have a code and a trace, and only requestors that enabled them get them`() async throws {
    for enhanced in [true, false] {
      let service = try await TestService(options: { _ in }) { $0.enhancedErrors = enhanced }
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let answer = try await service.call(
          client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=a&mvpd=nobody")
        #expect(answer.status == 400)
        let error = try answer.json()
        #expect(try error.int64("status") == 400)
        guard enhanced else {
          #expect(error["code"] == nil)
          return
        }
        #expect(try error.string("code") == "unknown_integration")
        #expect(try error.string("action") == "configuration")
        #expect(try error.string("helpUrl") == "https://tv.example.org/openapi.json")
        #expect(try error.string("trace").count == 36)
        let missing = try await service.call(client, "GET", "/api/v1/checkauthn.json?deviceId=a")
        #expect(missing.status == 403)
        #expect(try missing.json().string("code") == "authentication_session_missing")
        let markup = try await service.call(client, "GET", "/api/v1/checkauthn")
        #expect(markup.status == 400)
        #expect(markup.text.contains("<code>invalid_device_id</code>"))
        // A request without credentials names no requestor, so the service cannot know whether to send enhanced errors.
        #expect(try await client.get("/api/v1/checkauthn.json").json()["code"] == nil)
      }
    }
  }
}

@Suite struct `Cross-origin requests` {
  @Test(arguments: [
    ("/reggie/v1/REF30/regcode", "POST, OPTIONS"),
    ("/reggie/v1/REF30/regcode/BCDFGHJK", "GET, DELETE, OPTIONS"),
    ("/api/v1/checkauthn.json", "GET, OPTIONS"), ("/api/v1/logout", "DELETE, GET, OPTIONS"),
    ("/o/client/token", "POST, OPTIONS"),
  ])
  func `a CORS preflight request is answered with the allowed methods and headers`(target: String, methods: String)
    async throws
  {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.send(
        TestRequest(
          "OPTIONS", target,
          headers: [
            ("Origin", "https://login.example.com"), ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", "authorization, x-device-info"),
          ]))
      #expect(answer.status == 204)
      #expect(answer.header("allow") == methods)
      #expect(answer.header("access-control-allow-methods") == methods)
      #expect(answer.header("access-control-allow-origin") == "*")
      let headers = try #require(answer.header("access-control-allow-headers")).lowercased()
      for name in ["authorization", "x-device-info", "content-type", "prefer", "ap_11"] {
        #expect(headers.contains(name))
      }
    }
  }

  @Test func `pages of other origins may read responses and refusals`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let origin = (name: "Origin", value: "https://login.example.com")
      let good = try await service.call(client, "GET", "/api/v1/config/REF30", headers: [origin])
      let bad = try await client.get("/api/v1/config/REF30", headers: [origin])
      let form = try await client.post("/o/client/token", headers: [origin])
      for answer in [good, bad, form] {
        #expect(answer.header("access-control-allow-origin") == "*")
        for name in ["Retry-After", "AP-Decision-Source", "AP-Decision-Reason"] {
          #expect(answer.header("access-control-expose-headers")?.contains(name) == true)
        }
      }
      let plain = try await service.call(client, "GET", "/api/v1/config/REF30")
      #expect(plain.header("access-control-allow-origin") == nil)
    }
  }
}
