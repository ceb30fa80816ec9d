import Glibc
import TestSupport
import Testing

/// Malformed requests, blocked connections and hostile names from users of the admin socket.
@Suite struct `The admin socket with hostile input` {
  @Test func `the admin socket refuses malformed requests and keeps working`() throws {
    let deep = "PUT /v1/requestors/a HTTP/1.1\r\nHost: r\r\nContent-Length: 100000\r\n\r\n"
    let rubbish: [[UInt8]] = [
      [UInt8](repeating: 0, count: 5_000), (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) },
      Array("GET / HTTP/1.1\r\n\r\n".utf8),
      Array(deep.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 100_000),
      Array("PUT /v1/requestors/a HTTP/1.1\r\nHost: r\r\nContent-Length: 99999999999\r\n\r\n".utf8),
      Array("GET /v1/audit?after=-1&limit=99999999999999999999 HTTP/1.1\r\nHost: r\r\n\r\n".utf8),
      Array("GET /v1/backups/..%2Fmaster-key?offset=0 HTTP/1.1\r\nHost: r\r\n\r\n".utf8),
    ]
    try withService { service in
      for bytes in rubbish {
        let answer = try exchange(service.adminSocket, bytes)
        #expect(answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(200))")
      }
      #expect(try Operator(folder: service.folder).get("regentctl requestor list --json") == "[]")
    }
  }

  @Test func `an operator gets a connection although another process holds hundreds`() throws {
    try withService { service in
      var held: [Int32] = []
      defer { held.forEach { close($0) } }
      for number in 0..<400 {
        let descriptor = try connect(service.adminSocket)
        held.append(descriptor)
        // Half of them begin a request.
        if number % 2 == 0 {
          _ = unsafe send(descriptor, "GET /v1/st", 10, Int32(MSG_NOSIGNAL))
        }
      }
      let shell = Operator(folder: service.folder)
      try eventually("regentctl gets in", within: 60) {
        try shell.type("regentctl stats").status == 0 ? true : nil
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become somebody else"))
  func `a user without permission is refused with a hint`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.get("chmod 711 . && mkdir -m 711 door && cp \(try builtProgram("regentctl")) door")
      try withService("--admin-socket", "\(folder)/door/admin.sock", in: folder) { _ in
        let command =
          "setpriv --reuid 54321 --regid 54321 --clear-groups door/regentctl --socket door/admin.sock"
        // The kernel lets no other user connect to the socket.
        let closed = try shell.refusal("\(command) stats")
        #expect(closed.hasPrefix("regentctl: this user may not use "))
        #expect(closed.contains("hint: use sudo, or join the group"))
        // With a wider mode on the socket, the service checks the user itself.
        try shell.get("chmod 666 door/admin.sock")
        let refused = try shell.refusal("\(command) stats")
        #expect(refused.contains("user 54321 may not use the admin socket"))
        #expect(refused.contains("hint: "))
        #expect(try shell.refusal("\(command) requestor add evil").contains("may not use"))
        #expect(try shell.get("regentctl --socket door/admin.sock requestor list --json") == "[]")
        // The refusal is answered at once, but its audit line may be written later.
        try eventually("the refusal in the audit log", within: 60) {
          try shell.get("regentctl --socket door/admin.sock audit tail")
            .contains("admin.refused user 54321 (refused)") ? true : nil
        }
      }
    }
  }

  /// Hostile names, which must not reach the terminal unescaped.
  @Test func `hostile names are escaped in every output`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      let hostile = "A\u{202e}B\u{2066}\u{200b}\u{feff}"
      try shell.get("regentctl requestor add acme --domain tv.example.org")
      try shell.get(
        "regentctl provider add cable --name Cable --kind local && regentctl integrate acme cable")
      try shell.get("regentctl key issue acme --json > key.json")
      for word in ["$'\\e[2J'", "$'a\\nb'", "$'\\r'", "$'\\x9b31m'", "$'\\xff'", "''"] {
        let refused = try shell.type("regentctl requestor add \(word) --name \(word)")
        #expect(refused.status == 2)
        #expect(!refused.errors.contains(0x1b) && !refused.errors.contains(0x9b))
        #expect(refused.errorText.split(separator: "\n").count == 2, "\(refused.errorText)")
      }
      // A box can send any text about itself.
      let box = try ShellBox(shell, service, key: "key.json")
      let info = try shell.get(
        #"printf '{"model":"\\u001b[2J\#(hostile)\\n","osName":"x"}' | openssl base64 -A"#)
      let made = try box.call(
        "POST", "/reggie/v1/acme/regcode.json?deviceId=box", curl: "-H 'X-Device-Info: \(info)'")
      #expect(made.status == 201, "\(made)")
      #expect(try shell.get("regentctl code list").contains("[2JA"))
      // A provisioning file can have any text in its records.
      for (place, record) in [
        #""providers":[{"id":"p","name":"Acme \u001b[2J \n x","kind":"local"}]"#,
        #""providers":[{"id":"p","name":"\#(hostile)","kind":"local"}]"#,
        #""accounts":[{"provider":"cable","name":"\#(hostile)"}]"#,
        #""accounts":[{"provider":"cable","name":"a\u0000b"}]"#,
        #""entitlements":[{"provider":"cable","deny":"\#(hostile)","message":"\#(hostile)"}]"#,
        #""\#(hostile)":[]"#,
      ].enumerated() {
        try writeFile("\(service.folder)/\(place).json", "{\(record)}".utf8)
      }
      var shown: [UInt8] = []
      for command in [
        "apply 0.json", "apply 1.json --dry-run", "apply 1.json", "apply 2.json", "apply 3.json",
        "apply 4.json", "apply 5.json", "provider list", "provider show p", "account list cable",
        "entitle list cable", "entitle list cable --json", "code list", "audit tail",
        "audit export", "export",
        "provider list --json",
        "code list --json", "__complete -- provider show ''",
      ] {
        let finished = try shell.type("regentctl \(command)")
        shown += finished.output + finished.errors
      }
      let harmful = Set(hostile.unicodeScalars.filter { !$0.isASCII })
      for scalar in String(decoding: shown, as: UTF8.self).unicodeScalars {
        let isPlain = scalar == "\n" || scalar == "\t" || scalar.value >= 0x20
        #expect(isPlain && !harmful.contains(scalar), "U+\(String(scalar.value, radix: 16))")
      }
    }
  }

  /// Sends these bytes to a Unix socket and returns the response.
  private func exchange(_ path: String, _ bytes: [UInt8]) throws -> String {
    let descriptor = try connect(path)
    defer { close(descriptor) }
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes[sent...].withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      // The service may refuse before it has read everything.
      guard count > 0 else { break }
      sent += count
    }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = unsafe read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
      answer += chunk[..<count]
      // After a valid request the connection stays open, so that the end is not awaited.
      if answer.count > 12 { return String(decoding: answer, as: UTF8.self) }
    }
  }

  private func connect(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard connectUnixSocket(descriptor, path) else {
      close(descriptor)
      throw TestSupportError("cannot connect to \(path): errno \(errno)")
    }
    return descriptor
  }
}

extension RegentdProcess {
  /// The path of the service's admin socket.
  var adminSocket: String { "\(folder)/.local/state/regent/admin.sock" }
}
