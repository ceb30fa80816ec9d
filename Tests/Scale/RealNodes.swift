internal import Glibc
internal import RegentEncodings
internal import ScaleModel
internal import TestSupport

// Real nodes: `regentd` as operators run it, called over sockets, under the loads of the prediction.

struct RealNodes {
  private let processes: [RegentdProcess]
  private let cluster: SocketCluster
  private let meter: Meter

  /// The same limits as `ServiceLimits.generous`.
  private static let options = [
    "--device-rate", "100000", "--device-burst", "100000", "--newcomer-rate", "1000", "--live-codes", "1000000",
    "--sign-ins-per-account", "1000000",
    "--connections-per-source", "100000",
  ]

  init(_ count: Int, on ground: Ground, in folder: String) throws {
    let place = try ground.place("real\(count)")
    let key = "\(folder)/master-key"
    try writeFile(key, "\(Hex.encode(Place.masterKey))\n".utf8)
    guard unsafe chmod(key, 0o600) == 0 else { throw TestSupportError("chmod: errno \(errno)") }
    let program = try ownProgram().split(separator: "/", omittingEmptySubsequences: false).dropLast()
    var processes: [RegentdProcess] = []
    var addresses: [NodeAddress] = []
    for node in 0..<count {
      let home = "\(folder)/node-\(count)-\(node)"
      guard unsafe mkdir(home, 0o700) == 0 else { throw TestSupportError("mkdir: errno \(errno)") }
      let process = try RegentdProcess(
        "\(program.joined(separator: "/"))/regentd", in: home,
        [
          "--database", place.url, "--master-key", key, "--node", "node-\(node)", "--admin-socket",
          "\(home)/admin.sock", "--web", "\(packageFolder())/web",
        ] + Self.options, environment: ["STATE_DIRECTORY": home, "PATH": "/usr/bin:/bin"])
      guard let port = process.url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
        throw TestSupportError("no port in \(process.url)")
      }
      processes.append(process)
      addresses.append(NodeAddress(pid: process.program.pid, port: port, admin: "\(home)/admin.sock"))
    }
    self.processes = processes
    cluster = try SocketCluster(addresses)
    meter = try Meter(cluster, place)
  }

  /// Measures each figure that the model predicts and compares both.
  func compare(with model: Model, cores: Double) throws -> [Comparison] {
    let count = cluster.count
    let nodes = count == 1 ? "1 node" : "\(count) nodes"
    note("… \(nodes): waiting boxes")
    let memory = try memory()
    note("… \(nodes): \(Int(Pace.polls)) polls and \(Int(Pace.signIns)) sign-ins a second")
    let (steady, polls) = try self.steady()
    note("… \(nodes): \(Pace.askers) boxes that ask for codes at once")
    let rushed = try rush(Pace.askers, at: cluster, meter)
    cluster.hangUp()
    for process in processes { process.program.signal(SIGTERM) }
    for process in processes { _ = try process.program.wait() }

    var load = Load()
    (load.polls, load.codes, load.approvals) = (polls, steady.acts / steady.seconds, steady.acts / steady.seconds)
    let expected = model.steady(load, nodes: count)
    let crowd = model.rush(askers: Double(Pace.askers), nodes: count, cores: cores)
    note(
      "  \(text(crowd.rate)) codes/s predicted, \(text(rushed.acts / rushed.seconds)) measured; \(text(rushed.told / rushed.seconds)) batches of nonces/s"
    )
    let second = steady.seconds
    return [
      Comparison(
        "\(nodes): each node, steady", "cores", predicted: expected.node,
        measured: steady.nodes / second / Double(count)),
      Comparison(
        "\(nodes): database, steady", "cores", predicted: expected.database, measured: steady.database / second),
      Comparison(
        "\(nodes): transactions, steady", "/s", predicted: expected.writes, measured: steady.writes / second),
      Comparison("\(nodes): batches of nonces, steady", "/s", predicted: expected.told, measured: steady.told / second),
      Comparison(
        "\(nodes): nodes, a code of many at once", "us", predicted: crowd.spend.nodes,
        measured: rushed.nodes / rushed.acts * 1e6),
      Comparison(
        "\(nodes): database, a code of many at once", "us", predicted: crowd.spend.database,
        measured: rushed.database / rushed.acts * 1e6),
      Comparison(
        "\(nodes): codes in a transaction, many at once", "", predicted: crowd.codesInTransaction,
        measured: rushed.acts / rushed.writes),
      Comparison("\(nodes): memory of a waiting box", "KiB", predicted: model.waitingBox, measured: memory),
    ]
  }

  /// KiB of a box that has a code and waits.
  private func memory() throws -> Double {
    let boxes = try SocketCluster(cluster.nodes)
    defer { boxes.hangUp() }
    try hold(500, at: boxes)
    let before = try cluster.nodes.reduce(0) { $0 + (try anonymousKiB($1.pid)) }
    let count = 2_500 * cluster.count
    try hold(count, at: boxes)
    return (try cluster.nodes.reduce(0) { $0 + (try anonymousKiB($1.pid)) } - before) / Double(count)
  }

  private func hold(_ count: Int, at boxes: SocketCluster) throws {
    var signer = try Signer()
    let names = (0..<count).map { "waits-\(signer.prefix)-\($0)" }
    let lines = try names.indices.map { try boxes.line(to: $0 % boxes.count) }
    let made = OutcomeCounts()
    for (number, (line, name)) in zip(lines, names).enumerated() {
      let hold = try signer.hold(name)
      line.send(try signer.code(name)) { reply in
        if made.take(reply, 201) { line.send(hold) { _ in } }
      }
      // With at most 256 codes under way.
      if number % 64 == 63 { try made.await(number - 255, "new codes", boxes) }
    }
    try made.await(count, "new codes", boxes)
    try boxes.turn(until: seconds() + 0.7)
  }

  /// Also returns the polls a second, so that the prediction is made for the load that really occurred.
  private func steady() throws -> (Usage, polls: Double) {
    let span = 6.0
    let boxes = try StandingBoxes(198, polls: Int(Pace.polls * (span + 4)), at: cluster)
    let signIns = try SignIns(Int(Pace.signIns * (span + 4)), lines: 120, at: cluster)
    let streams: [(rate: Double, act: () throws -> Void)] = [
      (Pace.polls, boxes.poll), (Pace.signIns, signIns.begin),
    ]
    try pace(cluster, for: 2, streams, between: signIns.approve)
    try meter.begin()
    let before = (boxes.tally.count, signIns.told.count)
    try pace(cluster, for: span, streams, between: signIns.approve)
    let after = (boxes.tally.count, signIns.told.count)
    var usage = try meter.end()
    usage.acts = Double(after.1 - before.1)
    try pace(cluster, for: 1, [], between: signIns.approve)
    try boxes.tally.check("polls")
    try signIns.check()
    return (usage, Double(after.0 - before.0) / usage.seconds)
  }
}
