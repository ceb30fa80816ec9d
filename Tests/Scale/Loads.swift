internal import RegentPlatform
internal import TestSupport

// What the boxes and phones of a measurement do.

/// The load that real nodes are compared under, and the costs are measured at: a cost at a hundred a second is not that
/// at ten thousand.
enum Pace {
  static let polls = 600.0
  static let signIns = 50.0
  /// Seconds between a code and its yes.
  static let thinking = 0.5
  /// Who asks at once for new codes.
  static let askers = 512
}

/// Boxes whose code waits, and who ask again and again: each at the same node, over its own connection.
final class StandingBoxes {
  private let lines: [any Line]
  private let calls: [Call]
  private var turn = 0
  let tally = OutcomeCounts()

  /// As many polls as there will be are signed now.
  init(_ count: Int, polls: Int, at cluster: any Cluster) throws {
    var signer = try Signer()
    let names = (0..<count).map { "standing-\(signer.prefix)-\($0)" }
    let lines = try (0..<count).map { try cluster.line(to: $0 % cluster.count) }
    let made = OutcomeCounts()
    for (line, name) in zip(lines, names) { line.send(try signer.code(name)) { _ = made.take($0, 201) } }
    try made.await(count, "new codes", cluster)
    self.lines = lines
    // Whoever has no sign-in from before is found out with the first poll; that is not what is measured.
    let first = OutcomeCounts()
    for (line, name) in zip(lines, names) { line.send(try signer.poll(name)) { _ = first.take($0, 404) } }
    try first.await(count, "first polls", cluster)
    calls = try (0..<polls).map { try signer.poll(names[$0 % count]) }
  }

  func poll() {
    guard turn < calls.count else { return }
    lines[turn % lines.count].send(calls[turn]) { [tally] in _ = tally.take($0, 404) }
    turn += 1
  }
}

/// Boxes that get a code, hold a poll, and are told of the yes that an operator says, at the next node if there is one.
final class SignIns {
  private let cluster: any Cluster
  private let lines: [any Line]
  private let operators: [any Line]
  private let calls: [(code: Call, hold: Call)]
  private var turn = 0
  /// How many approvals each node was told.
  private var said: [Int]
  private let due = Kept<[(time: Double, code: String, node: Int)]>([])
  private let approving = Kept<[Double]>([])
  let (codes, approved, told) = (OutcomeCounts(), OutcomeCounts(), OutcomeCounts())

  init(_ count: Int, lines lineCount: Int, at cluster: any Cluster) throws {
    var signer = try Signer()
    self.cluster = cluster
    said = [Int](repeating: 0, count: cluster.count)
    lines = try (0..<lineCount).map { try cluster.line(to: $0 % cluster.count) }
    operators = try (0..<(8 * cluster.count)).map { try cluster.operatorLine(to: $0 % cluster.count) }
    calls = try (0..<count).map { number in
      let device = "new-\(signer.prefix)-\(number)"
      return (try signer.code(device), try signer.hold(device))
    }
  }

  /// Milliseconds from the yes to the box.
  var delays: [Double] { approving.withLock { $0 } }

  func begin() {
    guard turn < calls.count else { return }
    let (number, (code, hold)) = (turn, calls[turn])
    turn += 1
    let place = number % lines.count
    let (line, node) = (lines[place], place % cluster.count)
    let said = Kept(0.0)
    line.send(code) { [codes, told, due, approving] reply in
      guard codes.take(reply, 201), let letters = Signer.code(in: reply.body) else { return }
      line.send(hold) { reply in
        guard told.take(reply, 200) else { return }
        approving.withLock { $0.append((seconds() - said.withLock { $0 }) * 1_000) }
      }
      let time = seconds() + Pace.thinking
      said.withLock { $0 = time }
      due.withLock { $0.append((time, letters, node)) }
    }
  }

  /// Says yes where it is time.
  func approve() throws {
    let now = seconds()
    let ready = due.withLock { due in
      let ready = due.prefix { $0.time <= now }
      due.removeFirst(ready.count)
      return ready
    }
    for one in ready {
      let node = (one.node + 1) % cluster.count
      // All of them in turn: one over which nothing is said is closed.
      said[node] += 1
      let line = operators[(said[node] * cluster.count + node) % operators.count]
      line.send(try Signer.approval(one.code)) { [approved] in _ = approved.take($0, 200) }
    }
  }

  func check() throws {
    try codes.check("new codes")
    try approved.check("approvals")
    try told.check("held polls")
  }
}

/// Codes that many ask for at once.
///
/// - Returns: what was used meanwhile.
func rush(
  _ askers: Int, at cluster: any Cluster, _ meter: Meter, warm: Double = 1, for span: Double = 3
) throws -> Usage {
  var signer = try Signer()
  let calls = try (0..<Int(9_000 * (warm + span))).map { try signer.code("rush-\(signer.prefix)-\($0)") }
  let lines = try (0..<askers).map { try cluster.line(to: $0 % cluster.count) }
  let crowd = Crowd(Supply(calls), status: 201)
  crowd.begin(lines)
  try cluster.turn(until: seconds() + warm)
  try meter.begin()
  let before = crowd.tally.count
  try cluster.turn(until: seconds() + span)
  let count = crowd.tally.count
  var usage = try meter.end()
  usage.acts = Double(count - before)
  guard !crowd.isExhausted else { throw TestSupportError("all codes were asked for before the time was over") }
  crowd.end()
  // Whoever waits for an answer gets it before the next thing is measured.
  try cluster.turn(until: seconds() + 0.5)
  try crowd.tally.check("new codes")
  return usage
}
