import RegentHTTPCodec
import RegentJSON
import RegentOAuth
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

/// Responses of an OAuth server that wants to harm its boxes, or of an attacker in its place.
@Suite struct `A hostile OAuth server` {
  private func withBox(_ body: (Box, HostileServer) async throws -> Void) async throws {
    let server = try HostileServer()
    defer { server.stop() }
    try await withTemporaryFolder { folder in
      try await body(try Box(folder, "http://127.0.0.1:1"), server)
    }
  }

  private func add(_ box: Box, _ server: HostileServer) async throws -> Finished {
    try await box.run(["oauth", "add", "tv", "--issuer", server.url, "--client-id", "box"])
  }

  @Test func `a server whose metadata is invalid or names another issuer is not added`() async throws {
    try await withBox { box, server in
      let changes: [JSONObject] = [
        ["issuer": "https://login.example.org"], ["issuer": .string(server.url + "/")],
        ["token_endpoint": "http://login.example.org/token"], ["token_endpoint": "file:///etc/passwd"],
        ["device_authorization_endpoint": "https://name:word@login.example.org/"],
        ["device_authorization_endpoint": .null], ["revocation_endpoint": "gopher://x/"], ["token_endpoint": 7],
      ]
      for change in changes {
        server.document(change)
        let refused = try await add(box, server)
        #expect(refused.status == 1, "\(change)")
        #expect(refused.errorText.contains("cannot be used"), "\(refused.errorText)")
      }
      for (said, status): (String, UInt16) in [("[]", 200), ("{", 200), (String(repeating: " ", count: 1 << 20), 200)] {
        server.say("/.well-known/openid-configuration", said, status: status)
        #expect(try await add(box, server).status == 1)
      }
      server.say(
        "/.well-known/openid-configuration", "", status: 302, headers: [(.location, server.url + "/device")])
      #expect(try await add(box, server).status == 1)
      #expect(server.count("/device") == 0, "a redirect was followed")
      let plain = try await box.run(["oauth", "add", "tv", "--issuer", "http://login.example.org", "--client-id", "x"])
      #expect(plain.status == 2)
      for name in ["../x", ".x", "-x", "x/y", String(repeating: "x", count: 65)] {
        #expect(
          try await box.run(["oauth", "add", "--issuer", server.url, "--client-id", "box", "--", name]).status == 2,
          "\(name)")
      }
      #expect(try await box.run(["oauth", "list", "--json"]).outputText == "[]\n")
      server.document()
      #expect(try await add(box, server).status == 0)
      #expect(try await add(box, server).errorText.contains("already"))
    }
  }

  @Test func `a hostile server can show nothing on the screen but a code and a plain URL`() async throws {
    try await withBox { box, server in
      server.document()
      #expect(try await add(box, server).status == 0)
      let changes: [JSONObject] = [
        ["verification_uri": "javascript:alert(1)"], ["verification_uri": "http://login.example.org/device"],
        ["verification_uri": "https://login.example.org/\u{1b}[2J"],
        ["verification_uri": "https://login.example.org/\u{202e}gro"],
        ["verification_uri_complete": "intent://x#Intent;scheme=tel;end"],
        ["verification_uri_complete": "https://log\u{0456}n.example.org/"],
        ["verification_uri_complete": .string("https://login.example.org/" + String(repeating: "a", count: 600))],
        ["user_code": "AB\u{1b}]0;x\u{07}CD"], ["user_code": "\u{202e}DCBA"], ["user_code": ""],
        ["user_code": .string(String(repeating: "A", count: 33))], ["device_code": "a\nb"], ["expires_in": 0],
        ["interval": -1], ["user_code": 7],
      ]
      for change in changes {
        server.code(change)
        let shown = try await box.run(["oauth", "pair", "tv", "--json"])
        #expect(shown.status == 1, "\(change): \(shown.outputText)")
        #expect(!shown.outputText.contains("\"event\":\"code\""), "\(change)")
        #expect(!shown.output.contains(0x1b) && !shown.errorText.utf8.contains(0x1b))
      }
      server.say("/device", #"{"error":"bad\u001b[2J","error_description":"\u202egro \u001b]0;x\u0007"}"#, status: 400)
      let refused = try await box.run(["oauth", "pair", "tv"])
      #expect(refused.status == 1)
      #expect(refused.errorText.utf8.allSatisfy { $0 == 0x0a || (0x20...0x7e).contains($0) }, "\(refused.errorText)")
    }
  }

  @Test func `pairing ends only with the errors of the standard, and malformed responses give no token`() async throws {
    try await withBox { box, server in
      server.document()
      #expect(try await add(box, server).status == 0)
      server.code()
      for (said, status, exit): (String, UInt16, Int32) in [
        (#"{"error":"access_denied"}"#, 400, 4), (#"{"error":"expired_token"}"#, 400, 5),
        (#"{"error":"invalid_client"}"#, 401, 1), (#"{"access_token":"x"}"#, 200, 1),
        (#"{"access_token":"x\r\nHost: y","token_type":"Bearer"}"#, 200, 1),
        (#"{"access_token":"x\nurl=https://y","token_type":"DPoP"}"#, 200, 1),
        (#"{"access_token":"x","token_type":"mac"}"#, 200, 1), ("[]", 200, 1), ("", 204, 1),
        (String(repeating: "x", count: 1 << 20), 200, 1),
      ] {
        server.say("/token", said, status: status)
        let ended = try await box.run(["oauth", "pair", "tv", "--json"])
        #expect(ended.status == exit, "\(said.prefix(60)): \(ended.outputText)")
        #expect(!isFile("\(box.folder)/state/oauth/tv/tokens"))
      }
      // Redirects are not followed.
      let asked = server.count("/revoke")
      server.say("/token", "", status: 307, headers: [(.location, server.url + "/revoke")])
      #expect(try await box.run(["oauth", "pair", "tv"]).status == 1)
      #expect(server.count("/revoke") == asked)
      // authorization_pending with status 428, as some servers send it, then 503, then a token without an expiry.
      server.say("/token", #"{"error":"authorization_pending"}"#, status: 428)
      let pairing = try box.start(["oauth", "pair", "tv", "--json"])
      _ = try await box.event("code")
      let before = server.count("/token")
      try await eventually("a question") { server.count("/token") > before }
      server.say("/token", "", status: 503)
      _ = try await box.event("error")
      server.say("/token", #"{"access_token":"for-ever","token_type":"Bearer"}"#)
      #expect(try await eventually("the end") { pairing.poll() } == 0)
      let header = try await box.run(["oauth", "token", "tv", "--format", "header"])
      #expect(header.outputText == "Authorization: Bearer for-ever\n")
      // The server's revocation endpoint fails, and the box deletes the tokens nevertheless.
      #expect(try await box.run(["oauth", "remove", "tv"]).status == 0)
      #expect(try await box.run(["oauth", "list", "--json"]).outputText == "[]\n")
    }
  }
}
