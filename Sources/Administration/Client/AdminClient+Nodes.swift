import RegentHTTPCodec
public import RegentPairing

// The programs that serve together.

extension AdminClient {
  /// All nodes that were heard of within a day.
  public func nodes() async throws(AdminError) -> [NodeEntry] { try await list(AdminPaths.nodes) }

  /// One node.
  public func node(_ name: NodeID) async throws(AdminError) -> NodeEntry {
    try await document(.get, AdminPaths.one(AdminPaths.nodes, name.text))
  }

  /// Has a node hold no more replies, or hold them again.
  public func drain(_ name: NodeID, _ isOn: Bool) async throws(AdminError) -> NodeEntry {
    try await document(.post, AdminPaths.act(AdminPaths.nodes, name.text, isOn ? "drain" : "resume"))
  }
}
