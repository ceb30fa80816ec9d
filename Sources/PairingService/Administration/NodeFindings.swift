internal import Administration
internal import RegentPairing
internal import PairingStore

// Problems of nodes that `regentctl doctor` reports.

/// Finds problems among nodes (service processes) that share a database.
enum NodeFindings {
  /// How far a node's clock may differ from the database's clock before the node gets a warning.
  ///
  /// The time matters because codes, leases and permits expire by the clock of the node that reads them.
  private static let apart: Duration = .seconds(1)

  static func findings(about nodes: [NodeRecord]) -> [Finding] {
    let (silent, heard) = (nodes.filter { $0.silence > NodeID.silence }, nodes.filter { $0.silence <= NodeID.silence })
    var found = silent.map { node in
      Finding(
        "node \(node.id)", .warning, "the node has sent no heartbeat for \(node.silence.components.seconds) s",
        fix: "check that the node runs and reaches the database; a removed node is forgotten after a day")
    }
    let said = heard.map { (id: $0.id, words: NodeStatusExchange.Said(reading: $0.said)) }
    for node in said {
      guard let ahead = node.words.clockAhead else { continue }
      let others = said.filter { $0.id != node.id && !$0.words.isDraining }.compactMap(\.words.clockAhead)
      if let finding = finding(aboutClockOf: node.id, ahead, NodeClocks.standing(of: ahead, among: others)) {
        found.append(finding)
      }
    }
    let versions = Set(heard.map(\.version))
    if !isOneReleaseApart(versions) {
      found.append(
        Finding(
          "nodes", .warning,
          "the nodes have incompatible versions: \(versions.sorted().joined(separator: ", "))",
          fix: "upgrade the older nodes, one release at a time"))
    }
    if let finding = finding(aboutAddressesOf: said.compactMap { node in node.words.publicURL.map { (node.id, $0) } }) {
      found.append(finding)
    }
    return found
  }

  /// Warns when nodes have different public addresses.
  ///
  /// Such nodes act as different token issuers, so each refuses the tokens of the others.
  private static func finding(aboutAddressesOf nodes: [(id: NodeID, address: String)]) -> Finding? {
    let addresses = Dictionary(grouping: nodes, by: \.address)
    guard addresses.count > 1 else { return nil }
    let words = addresses.sorted { $0.key < $1.key }.map { address, nodes in
      "\(address) at \(nodes.map(\.id.text).sorted().joined(separator: ", "))"
    }
    return Finding(
      "nodes", .bad,
      "the nodes have different public addresses, so they refuse each other's tokens: \(words.joined(separator: "; "))",
      fix: "start all nodes with the load balancer's address as --public-url")
  }

  private static func finding(
    aboutClockOf node: NodeID, _ ahead: Duration, _ standing: NodeClocks.Verdict
  ) -> Finding? {
    let (check, words) = ("node \(node)", "its clock is \(ahead.aheadInWords) the database's")
    switch standing {
    case .outvoted:
      return Finding(
        check, .bad, "\(words), and most nodes agree on another time: this node serves no requests",
        fix: "set its machine's clock (timedatectl timesync-status); the node then serves again by itself")
    case .disputed:
      return Finding(
        check, .bad, "\(words), and it is unknown which of the two is wrong: the node keeps serving",
        fix:
          "compare both with the real time, and correct the wrong one: timedatectl on the node or the database server")
    case .agrees:
      guard ahead.magnitude > apart else { return nil }
      return Finding(
        check, .warning, words, fix: "use the same time server on both machines: timedatectl timesync-status")
    }
  }

  /// Whether all nodes run one release or two consecutive ones.
  ///
  /// More is not supported, because a release works only with its own tables and those of the next release.
  static func isOneReleaseApart(_ versions: Set<String>) -> Bool {
    let releases = Set(versions.map { $0.split(separator: ".").prefix(2).map { Int($0) ?? 0 } })
    guard releases.count > 1 else { return true }
    guard Set(releases.map(\.first)).count == 1 else { return false }
    let minors = releases.map { $0.dropFirst().first ?? 0 }
    return (minors.max() ?? 0) - (minors.min() ?? 0) <= 1
  }
}
