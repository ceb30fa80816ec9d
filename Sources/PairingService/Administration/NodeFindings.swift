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
        "node \(node.id)", .warning, "it has said nothing for \(node.silence.components.seconds) s",
        fix: "see whether it runs and reaches the database; one that was taken away is forgotten after a day")
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
          "they are of versions that do not serve together: \(versions.sorted().joined(separator: ", "))",
          fix: "upgrade those that are behind, one release after the other"))
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
      "their public addresses differ, and none takes the tokens of another: \(words.joined(separator: "; "))",
      fix: "start all of them with the same --public-url, that of the load balancer")
  }

  private static func finding(
    aboutClockOf node: NodeID, _ ahead: Duration, _ standing: NodeClocks.Verdict
  ) -> Finding? {
    let (check, words) = ("node \(node)", "its clock is \(ahead.aheadInWords) the database's")
    switch standing {
    case .outvoted:
      return Finding(
        check, .bad, "\(words), and most others agree on another time: it is out of service",
        fix: "set the clock of its machine; /readyz is 200 by itself then: timedatectl timesync-status")
    case .disputed:
      return Finding(
        check, .bad, "\(words), and nobody can tell which is wrong: it serves",
        fix: "see what time it is, and set the one that is wrong: timedatectl, there or on the database's server")
    case .agrees:
      guard ahead.magnitude > apart else { return nil }
      return Finding(
        check, .warning, words, fix: "let both follow the same time server: timedatectl timesync-status")
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
