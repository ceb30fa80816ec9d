import TestSupport
import Testing

/// The program on the socket is not the service that regentctl expects.
@Suite struct `regentctl with an unexpected service` {
  @Test func `regentctl names a service of another version and responses that it cannot use`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/other.py", Self.program.utf8)
      let other = try RunningProgram(
        "python3", ["\(folder)/other.py", "\(folder)/socket"], standardError: "\(folder)/said")
      defer { other.signal(9) }
      try eventually("the socket") { try shell.type("test -S socket").status == 0 ? true : nil }
      let version = try shell.type("regentctl --version").outputText.dropFirst("regentctl ".count).dropLast()
      let found = try shell.type("regentctl --socket socket doctor")
      #expect(found.status == 0, "\(found.errorText)")
      #expect(
        found.outputText == """
          warn  service: the service is version 9.9.9, regentctl is \(version)
                fix: restart the service (with systemd: systemctl restart regentd)

          """)
      let failed = try shell.refusal("regentctl --socket socket requestor list")
      #expect(failed.contains(": 500"))
      #expect(failed.contains("hint: check that it is the admin socket of regentd, and that regentctl"))
      let odd = try shell.refusal("regentctl --socket socket provider list")
      #expect(odd.contains("unexpected answer from the service: "))
      #expect(odd.contains("hint: check that regentctl and regentd have the same version"))
      let absurd = try shell.refusal("regentctl --socket socket stats")
      #expect(absurd.contains("member \"started\" must be a number from 0 to "), "\(absurd)")
      let rubbish = try shell.refusal("regentctl --socket socket statement list")
      #expect(rubbish.contains("the service's answer is not valid JSON"))
      #expect(rubbish.contains("is the admin socket of regentd"))
    }
  }

  @Test func `a service whose master key is a credential of systemd refuses to change it`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.get("mkdir -m 700 credentials && openssl rand -hex 32 > credentials/master-key")
      try shell.get("chmod 400 credentials/master-key")
      try withService(environment: ["CREDENTIALS_DIRECTORY": "\(folder)/credentials"], in: folder) {
        _ in
        let refused = try shell.refusal("regentctl master-key change --yes")
        #expect(refused.contains("the master key is a systemd credential"))
        #expect(refused.contains("hint: start the service with a key file (--master-key FILE)"))
      }
    }
  }

  @Test func `an invalid master key file is named`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        service.program.signal(15)
        _ = try service.program.wait()
      }
      try writeFile("\(shell.state)/master-key", Array("no key".utf8))
      let refused = try shell.refusal("regentd check")
      #expect(
        refused.contains(
          "the master key \(shell.state)/master-key is neither 32 bytes nor 64 hexadecimal digits"))
      #expect(refused.contains("hint: use the file that the service created at its first start"))
    }
  }

  private static let program = """
    import http.server, socketserver, sys
    class Answers(http.server.BaseHTTPRequestHandler):
      def address_string(self): return "somebody"
      def do_GET(self):
        status, body = {"/v1/service": (200, b'{"version":"9.9.9","started":0}'), "/v1/doctor": (200, b"[]"),
          "/v1/stats": (200, b'{"since":-9223372036854775808,"started":9223372036854775807,"opened":9223372036854775807}'),
          "/v1/providers": (200, b'{"a":1}'), "/v1/statements": (200, b"<html>")}.get(self.path, (500, b"oh"))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    socketserver.UnixStreamServer(sys.argv[1], Answers).serve_forever()

    """
}
