internal import Administration
internal import RegentPairing
internal import PairingStore

// What is to be said of the nodes, for `regentctl doctor`.

extension AdminCall {
  /// About those that the asked one has heard of.
  func nodeFindings() async throws(AdminError) -> [Finding] {
    let nodes = try await stored { () throws(StoreError) in try await core.store.nodes() }
    return NodeCare.findings(about: nodes)
  }
}

/// What is to be said of nodes that serve together.
enum NodeCare {
  /// Signatures are good for minutes, and codes, leases and permits end by the clock of whoever looks.
  private static let apart: Duration = .seconds(1)

  static func findings(about nodes: [NodeRecord]) -> [Finding] {
    let (silent, heard) = (nodes.filter { $0.silence > NodeID.silence }, nodes.filter { $0.silence <= NodeID.silence })
    var found = silent.map { node in
      Finding(
        "node \(node.id)", .warning, "it has said nothing for \(node.silence.components.seconds) s",
        fix: "see whether it runs and reaches the database; one that was taken away is forgotten after a day")
    }
    for node in heard {
      let ahead = NodeStatusExchange.Said(reading: node.said).clockAhead
      guard ahead.magnitude > apart else { continue }
      let seconds = ahead.magnitude.components.seconds
      found.append(
        Finding(
          "node \(node.id)", .warning,
          "its clock is \(seconds) s \(ahead > .zero ? "ahead of" : "behind") the database's",
          fix: "let both follow the same time server: timedatectl timesync-status"))
    }
    let versions = Set(heard.map(\.version))
    if !isOneReleaseApart(versions) {
      found.append(
        Finding(
          "nodes", .warning,
          "they are of versions that do not serve together: \(versions.sorted().joined(separator: ", "))",
          fix: "upgrade those that are behind, one release after the other"))
    }
    return found
  }

  /// Whether all are of one release or of two that follow each other: a release works on the tables of the next one.
  static func isOneReleaseApart(_ versions: Set<String>) -> Bool {
    let releases = Set(versions.map { $0.split(separator: ".").prefix(2).map { Int($0) ?? 0 } })
    guard releases.count > 1 else { return true }
    guard Set(releases.map(\.first)).count == 1 else { return false }
    let minors = releases.map { $0.dropFirst().first ?? 0 }
    return (minors.max() ?? 0) - (minors.min() ?? 0) <= 1
  }
}

extension Duration {
  fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
