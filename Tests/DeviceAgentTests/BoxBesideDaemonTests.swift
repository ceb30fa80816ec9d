import RegentJSON
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Commands beside a running daemon` {
  @Test func `a command for another box, service or key pair does not use the daemon`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let daemon = try box.start(["daemon"], output: "daemon")
      try await box.daemonListens()
      let pairing = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { pairing.poll() } == 0)
      let status = try await box.run(["status", "--json", "--state", "\(folder)/./state/"])
      #expect(try JSONValue(reading: status.output)["daemon"]?.bool == true, "the same folder")

      let other = "\(folder)/other"
      let elsewhere = try await box.run(["status", "--json", "--state", other])
      #expect(elsewhere.status == 3)
      #expect(try JSONValue(reading: elsewhere.output)["daemon"]?.bool == false)
      #expect(try await box.run(["logout", "--state", other]).status == 0)
      #expect(try await box.run(["status"]).status == 0, "that was another box")

      let away = "http://127.0.0.1:\(try freePort())"
      #expect(try await box.run(["providers", "--service", away]).status == 6)
      #expect(try await box.run(["providers", "--requestor", "NOPE"]).status == 1)
      #expect(try await box.run(["providers", "--public-key", "NOPE"]).status == 1)
      try writeFile("\(folder)/wrong", "wrong".utf8)
      #expect(try await box.run(["providers", "--secret-file", "\(folder)/wrong"]).status == 1)

      let insisting = try await box.run([
        "status", "--socket", "\(folder)/regent/agent.sock", "--requestor", "NOPE", "--state",
        other,
      ])
      #expect(insisting.status == 2)
      #expect(insisting.errorText.contains("has other values for --requestor, --state"))
      let doctor = try await box.run(["doctor", "--state", other])
      #expect(doctor.outputText.contains("note  daemon: the daemon runs with another --state"))
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }

  @Test func `pairing while a daemon runs signs the daemon's box in`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url, more: ["REGENT_STATE": ""])
      let daemon = try box.start(["daemon", "--state", "\(folder)/state"], output: "daemon")
      try await box.daemonListens()
      let pairing = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      #expect(try box.keeps(wire), "the code in the daemon's folder")
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { pairing.poll() } == 0)
      #expect(realPath("\(folder)/.local") == nil, "nothing in a folder of its own")
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }

  @Test(.enabled(if: Accounts.effectiveUser == 0 && installedProgram("setpriv") != nil))
  func `root can sign another user's box in, and other users are told how`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let nobody = try #require(try Accounts.user(named: "nobody"))
      let box = try Box(folder, service.url, more: ["REGENT_STATE": ""])
      let theirs = try Box(folder, service.url, more: ["REGENT_STATE": "\(folder)/theirs/state"])
      _ = try await box.shell(
        """
        mkdir -m 700 theirs && cp "$(command -v regent)" theirs/regent && cp secret theirs/secret
        chown -R \(nobody.id):\(nobody.group) theirs && chmod 711 . && chmod 755 theirs
        """)
      let become = ["--reuid=\(nobody.id)", "--regid=\(nobody.group)", "--clear-groups"]
      let daemon = try RunningProgram(
        "setpriv",
        become + [
          "\(folder)/theirs/regent", "daemon", "--socket", "\(folder)/theirs/s", "--secret-file",
          "\(folder)/theirs/secret",
        ], environment: theirs.environment, standardOutput: "\(folder)/d",
        standardError: "\(folder)/d.err")
      try await box.daemonListens(output: "d")
      let pairing = try box.start(["pair", "--json", "--socket", "\(folder)/theirs/s"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { pairing.poll() } == 0)
      let owner = try await box.shell("stat -c %u theirs/state/tokens")
      #expect(owner.outputText == "\(nobody.id)\n")
      let status = try await box.run(["status", "--socket", "\(folder)/theirs/s"])
      #expect(status.status == 0)

      let stranger = try await box.shell(
        """
        setpriv --reuid=12345 --regid=12345 --clear-groups \
          env REGENT_SECRET_FILE= theirs/regent pair --socket "$PWD/theirs/s"
        """)
      #expect(stranger.status == 1)
      #expect(stranger.errorText.contains("as user nobody; this user may not write there"))
      #expect(
        stranger.errorText.contains("sudo regent pair --socket \(folder)/theirs/s. "))
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }
}
