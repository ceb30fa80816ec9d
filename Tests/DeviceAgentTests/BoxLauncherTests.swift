import CommandKit
import RegentJSON
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Launchers and failures of pairing` {
  @Test(
    arguments: [
      (["pair", "--json", "--lifetime", "soon"], "usage"),
      (["pair", "--json", "--bogus"], "usage"),
      (["pair", "--json", "--secret-file", "nowhere"], nil),
      (["pair", "--json", "--service", "nonsense"], "usage"),
    ] as [([String], String?)])
  func `every failure of pair --json is one error event`(arguments: [String], code: String?)
    async throws
  {
    try await withTemporaryFolder { folder in
      let box = try Box(folder, "http://127.0.0.1:\(try freePort())")
      let end = try await box.run(arguments)
      #expect(end.status != 0)
      #expect(end.errorText.isEmpty, "\(end.errorText)")
      let event = try #require(try JSONValue(reading: end.output).object)
      #expect(event["event"]?.string == "error")
      #expect(event["message"]?.string?.isEmpty == false)
      if let code { #expect(event["code"]?.string == code) }
    }
  }

  @Test(.enabled(if: Accounts.effectiveUser == 0 && installedProgram("setpriv") != nil))
  func `another user can pair through the daemon when agent.conf allows it`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try writeFile("\(folder)/agent.conf", "allow = user:12345 pair status\n".utf8)
      _ = try await box.shell(
        "chmod 711 . && cp \"$(command -v regent)\" regent-copy && chmod 755 regent-copy && chmod 600 secret")
      let daemon = try box.start(
        ["daemon", "--config", "\(folder)/agent.conf", "--socket", "\(folder)/s"], output: "daemon")
      try await box.daemonListens()
      // This user may read neither the secret nor the tokens.
      func launcher(_ user: Int, _ output: String, _ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(
          "setpriv",
          [
            "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "env", "-u", "REGENT_SECRET_FILE", "-u",
            "REGENT_STATE",
            "\(folder)/regent-copy",
          ] + arguments + ["--socket", "\(folder)/s"],
          environment: box.environment, standardOutput: "\(folder)/\(output)",
          standardError: "\(folder)/\(output).err")
      }
      let first = try launcher(12345, "first", ["pair", "--json"])
      let wire = try #require(try await box.event("code", in: "first")["code"]?.string)
      #expect(try box.keeps(wire), "in the daemon's folder")
      // The launcher is killed; the next one continues with the code on the screen.
      first.signal(9)
      _ = try await eventually("the end") { first.poll() }
      let second = try launcher(12345, "second", ["pair", "--json"])
      #expect(try await box.event("code", in: "second")["code"]?.string == wire)

      let stranger = try launcher(54321, "stranger", ["pair", "--json"])
      #expect(try await eventually("the refusal") { stranger.poll() } == 1)
      #expect(box.printed("stranger").contains("allow = user:54321 pair"))

      try await service.service.approve(wire)
      #expect(try await box.event("authenticated", in: "second")["provider"]?.string == "Sample TV")
      #expect(try await eventually("the end") { second.poll() } == 0)
      let status = try launcher(12345, "status", ["status"])
      #expect(try await eventually("the end") { status.poll() } == 0)
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }
}

@Suite struct `Messages of the box` {
  @Test func `logout says that the box was not signed in, and an empty secret file is named`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      #expect(try await box.run(["logout"]).outputText == "this box was not signed in\n")
      let daemon = try box.start(["daemon"], output: "daemon")
      try await box.daemonListens()
      let asked = try await box.run(["logout", "--json"])
      #expect(try JSONValue(reading: asked.output)["wasSignedIn"]?.bool == false)
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
      try writeFile("\(folder)/secret", "\n".utf8)
      let refused = try await box.run(["providers"])
      #expect(refused.errorText.contains("--secret-file: \(folder)/secret is empty"))
      let bare = try await box.run([])
      #expect(bare.status == 0 && bare.outputText.hasPrefix("regent: sign this box in"))
    }
  }
}

@Suite struct `Pairing through the daemon` {
  @Test func `the daemon runs one pairing, which its user can join and which ends when no program asks for it`()
    async throws
  {
    let time = Locked<UInt64>(0)
    let link = StillLink()
    let host = PairHost(
      patience: .seconds(1), hold: .milliseconds(10), clock: { time.withLock { $0 } }
    ) { _ throws(CommandError) in link }
    let mine = try await host.begin(PairOrder(), by: 1)
    try await host.requestCode(mine.id, nil, isFirst: true, by: 1)
    link.sink.yield(.code(Scene.code()))
    #expect(try await host.news(of: mine.id, after: 0, by: 1).events.first == .code(Scene.code()))
    #expect(try await host.begin(PairOrder(), by: 1).id == mine.id)
    await #expect(throws: CommandError.self) { try await host.begin(PairOrder(), by: 2) }
    await #expect(throws: CommandError.self) { try await host.news(of: mine.id, after: 0, by: 2) }
    time.withLock { $0 = 2_000_000_000 }
    try await eventually("the code is taken back") { link.isWithdrawn }
    let theirs = try await host.begin(PairOrder(), by: 2)
    #expect(theirs.id != mine.id)
  }

  @Test func `a pairing that begins while another is being withdrawn is not lost to a third one`() async throws {
    let links = Locked<[StillLink]>([])
    let host = PairHost(hold: .milliseconds(10), clock: { 0 }) { _ throws(CommandError) in
      let link = StillLink()
      if links.withLock({ $0.isEmpty }) { link.holdsWithdrawal.withLock { $0 = true } }
      links.withLock { $0.append(link) }
      return link
    }
    _ = try await host.begin(PairOrder(), by: 1)
    let again = Task { try await host.begin(PairOrder(isForced: true), by: 1) }
    let first = links.withLock { $0[0] }
    try await eventually("the withdrawal of the first") { first.isWithdrawn }
    let theirs = try await host.begin(PairOrder(), by: 2)
    first.holdsWithdrawal.withLock { $0 = false }
    let refused = await #expect(throws: CommandError.self) { try await again.value }
    #expect(refused?.code == "busy")
    #expect(try await host.news(of: theirs.id, after: 0, by: 2).events.isEmpty)
  }

  @Test func `a pairing makes at most sixty codes an hour and keeps only its last events`() async throws {
    let link = StillLink()
    let time = Locked<UInt64>(0)
    let host = PairHost(hold: .milliseconds(10), clock: { time.withLock { $0 } }) { _ throws(CommandError) in link }
    let id = try await host.begin(PairOrder(), by: 1).id
    for _ in 0..<70 { try await host.requestCode(id, nil, isFirst: false, by: 1) }
    #expect(link.codes == 60)
    for _ in 0..<200 { link.sink.yield(.opened) }
    link.sink.yield(.match(7))
    try await eventually("the last event") {
      try await host.news(of: id, after: 0, by: 1).events.last == .match(7) ? true : nil
    }
    #expect(try await host.news(of: id, after: 0, by: 1).events.count == PairHost.mostEvents)
    time.withLock { $0 = 3_600_000_000_000 }
    _ = try? await host.begin(PairOrder(isForced: true), by: 1)
    #expect(link.isWithdrawn, "another order takes its place")
  }

  @Test func `an app cannot replace a launcher's code, gives way to a launcher, and has a limit of codes`() async throws
  {
    let links = Locked<[StillLink]>([])
    let host = PairHost(hold: .milliseconds(10), clock: { 0 }) { _ throws(CommandError) in
      let link = StillLink()
      links.withLock { $0.append(link) }
      return link
    }
    func show(_ id: String) async throws {
      try await host.requestCode(id, "one", isFirst: true, by: 1)
      links.withLock { _ = $0.last?.sink.yield(.code(Scene.code())) }
      try await eventually("a code") { try await !host.news(of: id, after: 0, by: 1).events.isEmpty ? true : nil }
    }
    let launcher = try await host.begin(PairOrder(numberMatching: true), by: 1)
    try await show(launcher.id)
    let refused = await #expect(throws: CommandError.self) { try await host.begin(PairOrder(), by: 1, for: "kodi") }
    #expect(refused?.code == "busy")
    #expect(
      try await host.news(of: launcher.id, after: 0, by: 1).events.count == 1, "its code is there still")
    try await host.withdraw(launcher.id, by: 1)
    // An app's code is replaced by a launcher of any user, but not by another app.
    let app = try await host.begin(PairOrder(), by: 1, for: "kodi")
    try await show(app.id)
    #expect(try await host.begin(PairOrder(), by: 1, for: "video").id == app.id)
    let other = try await host.begin(PairOrder(isForced: true), by: 2)
    await #expect(throws: CommandError.self) { try await host.news(of: app.id, after: 0, by: 1) }
    try await host.withdraw(other.id, by: 2)
    // An app cannot withdraw a code that a launcher has joined.
    let shared = try await host.begin(PairOrder(), by: 1, for: "kodi")
    try await show(shared.id)
    #expect(try await host.begin(PairOrder(), by: 1).id == shared.id)
    try await host.withdraw(shared.id, by: 1, forApps: true)
    #expect(try await host.news(of: shared.id, after: 0, by: 1).events.count == 1)
    try await host.withdraw(shared.id, by: 1)
    for number in 2..<AppCodes.mostOfOne {
      let id = try await host.begin(PairOrder(), by: 1, for: "kodi").id
      try await host.withdraw(id, by: 1, forApps: true)
      #expect(number < AppCodes.mostOfOne)
    }
    await #expect(throws: CommandError.self) { try await host.begin(PairOrder(), by: 1, for: "kodi") }
    var codes = AppCodes.mostOfOne
    while let id = try? await host.begin(PairOrder(), by: 1, for: "app-\(codes)").id {
      try await host.withdraw(id, by: 1, forApps: true)
      codes += 1
    }
    #expect(codes == AppCodes.mostOfAll)
    _ = try await host.begin(PairOrder(), by: 1)
    #expect(throws: Never.self) {
      var codes = AppCodes()
      for hour in 0..<100 as Range<UInt64> { try codes.take("kodi", now: hour * 600_000_000_000) }
    }
  }

  @Test func `every pairing event survives its JSON form`() throws {
    let failure = AgentFailure(code: "busy", message: "m", hint: "h", trouble: .busy(seconds: 3))
    let events: [LinkEvent] = [
      .providers([ProviderEntry(id: "a", name: "A", isFeatured: true)], last: "a"), .code(Scene.code()), .opened,
      .match(42), .authenticated(name: "n", provider: "p"), .alreadySignedIn(name: nil, provider: "p"),
      .alreadySignedIn(name: "n", provider: "p", id: "one"), .denied,
      .expired, .withdrawn, .recovered, .trouble(failure), .failed(failure),
      .failed(AgentFailure(code: "c", message: "m", hint: nil, trouble: .offline(host: "h"))),
    ]
    for event in events { #expect(LinkEvent(event.document) == event) }
  }
}

/// A pairing conversation in which only the test causes events.
private final class StillLink: PairLink {
  let sink: AsyncStream<LinkEvent>.Continuation
  private let stream: AsyncStream<LinkEvent>
  private let state = Locked((codes: 0, isWithdrawn: false))
  /// Whether a withdrawal takes until this is false.
  let holdsWithdrawal = Locked(false)

  init() { (stream, sink) = AsyncStream.makeStream(of: LinkEvent.self) }

  var codes: Int { state.withLock { $0.codes } }
  var isWithdrawn: Bool { state.withLock { $0.isWithdrawn } }
  func events() -> AsyncStream<LinkEvent> { stream }
  func requestCode(provider: String?) { state.withLock { $0.codes += 1 } }
  func withdraw() async {
    state.withLock { $0.isWithdrawn = true }
    _ = try? await eventually("the withdrawal to go on") { holdsWithdrawal.withLock { !$0 } }
  }
}
