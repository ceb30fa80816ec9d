internal import RegentJSON
internal import ScaleModel

// The output, as text and as JSON.

struct Report {
  let sqlite: Simulated
  let server: Simulated
  let waiting: (sqlite: Int, server: Int)
  let costs: Costs
  let comparisons: [Comparison]
  let cores: Int

  /// The machine of each node in the plans, a small one.
  static let machine = Machine(cores: 4, memory: 8, connections: 200_000)

  private var plans: [(boxes: Double, plan: Plan?)] {
    let model = Model(costs)
    return [1e4, 1e5, 1e6, 1e7].map { ($0, model.plan(boxes: $0, on: Self.machine)) }
  }

  var missed: Int { comparisons.count { !$0.holds } }

  // MARK: - Text

  func lines() -> [String] {
    var lines = ["Simulated without sockets, on \(cores) cores shared by node, database and callers:"]
    lines += simulation("one node on SQLite", sqlite, waiting.sqlite)
    lines += simulation("a node on PostgreSQL", server, waiting.server)
    lines += [
      "  1,000,000 waiting boxes need \(text(1e6 * server.kibibytes / 1_048_576)) GiB at all nodes without connections; "
        + "10,000,000 signed-in boxes need \(text(server["box-bytes"] * 1e7 / 1e9)) GB in the database (extrapolated)",
      "",
      "Cost of single acts, in microseconds of the nodes and of the database:",
    ]
    for (name, spend) in Self.acts(costs) {
      lines.append("  \(padded(name, 44)) \(text(spend.nodes)) and \(text(spend.database))")
    }
    lines += [
      "", padded("Real nodes", 48) + padded("predicted", 12) + padded("measured", 12) + "difference",
    ]
    for one in comparisons { lines.append(Self.line(one)) }
    lines += [
      "\(comparisons.count - missed) of \(comparisons.count) within \(text(Comparison.most * 100)) %", "",
      "Computed, not measured: nodes with \(text(Self.machine.cores)) such cores and \(text(Self.machine.memory)) GiB, half "
        + "used; boxes, codes, approvals and waits as in issue 21 for 10,000,000 boxes:",
    ]
    for (boxes, plan) in plans { lines.append("  " + sentence(boxes, plan)) }
    return lines
  }

  static func line(_ one: Comparison) -> String {
    padded("\(one.name)\(one.unit.isEmpty ? "" : ", ")\(one.unit)", 48) + padded(text(one.predicted), 12)
      + padded(text(one.measured), 12)
      + padded("\(one.difference < 0 ? "-" : "+")\(text(abs(one.difference) * 100)) %", 12)
      + (one.holds ? "" : "BEYOND")
  }

  private func simulation(_ title: String, _ found: Simulated, _ waiting: Int) -> [String] {
    [
      "  \(title): \(waiting) boxes wait, all of them came back at \(text(found["back-rate"])) a second "
        + "(\(text(found["back-node"])) and \(text(found["back-database"])) us each, \(text(found["waiter-kib"])) KiB)",
      "    with 1,700 codes and 500 approvals a second requested: \(text(found["work-codes"])) and "
        + "\(text(found["work-approvals"])) reached, result at the box after \(text(found["told-p50"])) ms (p99 \(text(found["told-p99"]))), "
        + "cores \(text(found["work-node"])) and \(text(found["work-database"]))",
    ]
  }

  static func acts(_ costs: Costs) -> [(String, Spend)] {
    [
      ("a second of an idle node", costs.idle), ("a poll", costs.poll.spend), ("a held poll", costs.hold.spend),
      ("a sign-in, approved at the same node", costs.signIn.spend),
      ("a sign-in, approved at another node", costs.signInElsewhere.spend),
      ("a box that comes back", costs.comeBack.spend),
      ("a code among many", costs.code.each), ("a transaction of many codes", costs.code.transaction),
      ("a batch of nonces", costs.telling.batch), ("a nonce in a batch", costs.telling.nonce),
      ("a received nonce", costs.hearing.nonce),
      ("a second with 100 notifications", costs.hearing.spend(bells: 100, nonces: 0)),
      ("a second with 1,000 notifications", costs.hearing.spend(bells: 1_000, nonces: 0)),
      ("a call over a socket", Spend(nodes: costs.transport.light)),
      ("a call over a socket, many at the same time", Spend(nodes: costs.transport.many)),
    ]
  }

  private func sentence(_ boxes: Double, _ plan: Plan?) -> String {
    let many = padded("\(Int(boxes)) boxes", 16)
    guard let plan else {
      return many + "no number of nodes suffices: each receives more from the others than it takes over"
    }
    return many
      + "\(plan.nodes) node\(plan.nodes == 1 ? "" : "s (\(plan.limit?.rawValue ?? ""))"), each \(text(plan.steady.node)) cores and "
      + "\(text(plan.memory)) GiB; database \(text(plan.steady.database)) cores, \(text(plan.databaseInRush)) while all boxes come "
      + "back; writer busy \(text(plan.writer * 100)) %"
  }

  // MARK: - JSON

  func json() -> String {
    func object(_ members: [(String, JSONValue)]) -> JSONValue {
      .object(JSONObject(members.map { JSONObject.Member($0.0, $0.1) }))
    }
    func numbers(_ found: Simulated) -> JSONValue {
      object(found.numbers.sorted { $0.key < $1.key }.map { ($0.key, .double($0.value)) })
    }
    let figures = comparisons.map { one in
      object([
        ("name", .string(one.name)), ("unit", .string(one.unit)), ("predicted", .double(one.predicted)),
        ("measured", .double(one.measured)), ("holds", .bool(one.holds)),
      ])
    }
    let acts = Self.acts(costs).map { name, spend in
      object([
        ("act", .string(name)), ("nodes", .double(spend.nodes)), ("database", .double(spend.database)),
      ])
    }
    let plans = plans.map { boxes, plan in
      object([
        ("boxes", .integer(Int64(boxes))), ("nodes", plan.map { .integer(Int64($0.nodes)) } ?? .null),
        ("limit", (plan?.limit).map { .string($0.rawValue) } ?? .null),
        ("node", plan.map { .double($0.steady.node) } ?? .null),
        ("database", plan.map { .double($0.steady.database) } ?? .null),
        ("writer", plan.map { .double($0.writer) } ?? .null),
      ])
    }
    return object([
      ("sqlite", numbers(sqlite)), ("postgresql", numbers(server)), ("acts", .array(acts)),
      ("figures", .array(figures)), ("plans", .array(plans)),
    ]).description
  }
}

private func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}

/// Formats a number with three significant digits, without an exponent.
func text(_ value: Double) -> String {
  guard value.isFinite else { return "-" }
  if value < 0 { return "-" + text(-value) }
  if value >= 100 { return "\(Int(value.rounded()))" }
  let digits = value >= 10 ? 1 : value >= 1 ? 2 : 3
  let scale = [10, 100, 1_000][digits - 1]
  let scaled = Int((value * Double(scale)).rounded())
  let fraction = String(scaled % scale)
  return "\(scaled / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}
