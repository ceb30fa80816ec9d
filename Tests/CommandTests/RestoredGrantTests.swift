import TestSupport
import Testing

@Suite struct `OAuth grants after a restore` {
  @Test func `a restored backup ends every OAuth grant, and clients can pair again`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      func ask(_ service: RegentdProcess, _ path: String, _ form: String) throws -> String {
        let fields = form.split(separator: " ").map { "-d \($0)" }.joined(separator: " ")
        return try shell.get("curl -s \(fields) \(service.url)\(path)")
      }
      func field(_ name: String, of text: String) throws -> String {
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        let place = try #require(parts.firstIndex { $0 == name }, "no \(name) in \(text)")
        return String(parts[place + 2])
      }
      let grant = "grant_type=urn:ietf:params:oauth:grant-type:device_code"
      func pair(_ service: RegentdProcess, _ client: String) throws -> String {
        let code = try ask(service, "/oauth/device_authorization", "client_id=\(client)")
        try shell.get("regentctl code approve \(field("user_code", of: code)) --provider cable --account anna")
        return try ask(
          service, "/oauth/token", "client_id=\(client) \(grant) device_code=\(field("device_code", of: code))")
      }
      func refresh(_ service: RegentdProcess, _ client: String, _ token: String) throws -> String {
        try ask(
          service, "/oauth/token", "client_id=\(client) grant_type=refresh_token refresh_token=\(token)")
      }
      var (client, api, old, latest, access) = ("", "", "", "", "")
      try withService(in: folder) { service in
        try shell.get(
          """
          regentctl requestor add acme && regentctl key issue acme && regentctl provider add cable --name Cable --kind local \
          && regentctl integrate acme cable && echo correct-horse-battery | regentctl account add cable anna
          """)
        client = try field(
          "id", of: try shell.get("regentctl client add acme --name Kodi --public --algorithm ES256 --json"))
        let made = try shell.get("regentctl client add acme --name API --secret --algorithm ES256 --json")
        api = "client_id=\(try field("id", of: made)) client_secret=\(try field("secret", of: made))"
        old = try field("refresh_token", of: try pair(service, client))
        try shell.get("regentctl backup copy.db")
        // The token was used after the backup: for the restored database the new one was never issued, and the used
        // one is the latest.
        let next = try refresh(service, client, old)
        (latest, access) = (try field("refresh_token", of: next), try field("access_token", of: next))
        let introspected = try ask(service, "/oauth/introspect", "\(api) token=\(access)")
        #expect(introspected.contains("\"active\":true"), "\(introspected)")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      try shell.get("regentctl restore copy.db --yes")
      try withService(in: folder) { service in
        for token in [latest, old] {
          let refused = try refresh(service, client, token)
          #expect(refused.contains("\"invalid_grant\""), "\(refused)")
        }
        let introspected = try ask(service, "/oauth/introspect", "\(api) token=\(access)")
        #expect(introspected == "{\"active\":false}")
        let grants = try shell.get("regentctl grant list --json")
        #expect(grants == "[]")
        // The sign-in behind the grant has ended, too, and nothing is left that could be refreshed.
        let devices = try shell.get("regentctl device list --json")
        #expect(devices == "[]")
        let paired = try pair(service, client)
        #expect(paired.contains("\"token_type\":\"Bearer\""), "\(paired)")
      }
    }
  }
}
