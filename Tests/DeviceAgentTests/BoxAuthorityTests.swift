import HTTPServer
import RegentHTTPCodec
import RegentJSON
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Certificate authorities of a box's service` {
  @Test func `a private certificate authority is given as an option or a variable, and error hints name both`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let port = try freePort()
      let url = "https://localhost:\(port)"
      let box = try Box(folder, url)
      let made = try await box.shell(
        """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 7 -subj "/CN=House" \
          -keyout ca.key -out ca.pem 2> said
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=localhost" \
          -keyout tls.key -out tls.csr 2>> said
        echo "subjectAltName=DNS:localhost,IP:127.0.0.1" > names
        openssl x509 -req -in tls.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 7 -extfile names -out tls.pem \
          2>> said
        chmod 600 tls.key
        """)
      #expect(made.status == 0)
      let server = try Server([
        Listener(
          .network(.loopback, port: port), tls: TLSFiles(certificate: "\(folder)/tls.pem", key: "\(folder)/tls.key"),
          handler: try service.service.router())
      ])
      defer { server.stop(within: .milliseconds(100)) }

      let unknown = try await box.run(["providers"])
      #expect(unknown.status == 6)
      #expect(unknown.errorText.contains("--ca-file FILE or SSL_CERT_FILE=FILE"), "\(unknown.errorText)")
      #expect(try await box.run(["providers", "--ca-file", "\(folder)/ca.pem"]).status == 0)
      let known = try Box(folder, url, more: ["SSL_CERT_FILE": "\(folder)/ca.pem"])
      #expect(try await known.run(["providers"]).status == 0)
      let doctor = try await box.run(["doctor", "--ca-file", "\(folder)/ca.pem"])
      #expect(doctor.outputText.contains("the service answers"), "\(doctor.outputText)")

      let plain = try await box.run(["providers", "--service", "http://localhost:\(port)"])
      #expect(plain.status != 0 && plain.errorText.contains("https://"), "\(plain.errorText)")
      let mixed = try await box.run(["providers", "--service", "https://localhost:\(service.port)"])
      #expect(mixed.status != 0 && mixed.errorText.contains("use http://"), "\(mixed.errorText)")
    }
  }

  @Test(arguments: [
    (308, "Location: https://tv.example.org/api\r\n", "", "https://tv.example.org"),
    (301, "Location: http://portal.example/login\r\n", "", "sign in to the network"),
    (400, "Content-Type: text/html\r\n", "<h1>The plain HTTP request was sent to HTTPS port</h1>", "write https://"),
    (404, "Content-Type: text/html\r\n", "<h1>Welcome to the hotel</h1>", "sign in to the network"),
    (200, "Content-Type: text/html\r\n", "<h1>Welcome to the hotel</h1>", "sign in to the network"),
  ])
  func `an error where another program answers names the real cause, not a missing certificate authority`(
    status: Int, header: String, body: String, words: String
  ) async throws {
    try await withTemporaryFolder { folder in
      let port = try freePort()
      let box = try Box(folder, "http://127.0.0.1:\(port)")
      try writeFile(
        "\(folder)/answer.py",
        """
        import socket
        listener = socket.create_server(("127.0.0.1", \(port)))
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(\(pythonBytes("HTTP/1.1 \(status) X\r\n\(header)Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")))
            connection.close()
        """.utf8)
      let program = try RunningProgram(
        "python3", ["\(folder)/answer.py"], environment: ["PATH": "/usr/bin:/bin"],
        standardOutput: "\(folder)/server", standardError: "\(folder)/server.err")
      defer { program.signal(9) }
      try await eventually("the port") { box.printed("server").contains("listening") }
      let answer = try await box.run(["providers"])
      #expect(answer.status != 0 && answer.errorText.contains(words), "\(answer.errorText)")
    }
  }

  private func pythonBytes(_ text: String) -> String {
    "bytes.fromhex('" + text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "')"
  }
}
