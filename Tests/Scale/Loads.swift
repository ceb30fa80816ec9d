internal import RegentPlatform
internal import TestSupport

// What boxes and phones do during a measurement.

/// The load under which costs are measured and real nodes are compared.
///
/// Both must be the same, because the cost of an act at a hundred a second is not that at ten thousand.
enum Pace {
  static let polls = 600.0
  static let signIns = 50.0
  /// The seconds between a code and its approval.
  static let thinking = 0.5
  /// The number of boxes that ask for new codes at the same time.
  static let askers = 512
}

/// Boxes with a pending code that poll again and again, each at the same node over its own connection.
final class StandingBoxes {
  private let lines: [any Line]
  private let calls: [Call]
  private var turn = 0
  let tally = OutcomeCounts()

  /// Signs all polls of the measurement beforehand.
  init(_ count: Int, polls: Int, at cluster: any Cluster) throws {
    var signer = try Signer()
    let names = (0..<count).map { "standing-\(signer.prefix)-\($0)" }
    let lines = try (0..<count).map { try cluster.line(to: $0 % cluster.count) }
    let made = OutcomeCounts()
    for (line, name) in zip(lines, names) { line.send(try signer.code(name)) { _ = made.take($0, 201) } }
    try made.await(count, "new codes", cluster)
    self.lines = lines
    // With the first poll of a device the service looks up an earlier sign-in; that is not to be measured.
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

/// Boxes that get a code, wait, and get the result when an operator approves it, at the next node if there are several.
final class SignIns {
  private let cluster: any Cluster
  private let lines: [any Line]
  private let operators: [any Line]
  private let calls: [(code: Call, hold: Call)]
  private var turn = 0
  /// The number of approvals that were sent to each node.
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

  /// Milliseconds from the approval to the box.
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

  /// Approves the codes whose time has come.
  func approve() throws {
    let now = seconds()
    let ready = due.withLock { due in
      let ready = due.prefix { $0.time <= now }
      due.removeFirst(ready.count)
      return ready
    }
    for one in ready {
      let node = (one.node + 1) % cluster.count
      // All connections in turn, because the service closes idle ones.
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

/// Lets a number of boxes ask for codes at the same time.
///
/// - Returns: what was used during the measured part.
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
  // Responses that are still awaited must not reach into the next measurement.
  try cluster.turn(until: seconds() + 0.5)
  try crowd.tally.check("new codes")
  return usage
}
