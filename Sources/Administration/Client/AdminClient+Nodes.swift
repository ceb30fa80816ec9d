import RegentHTTPCodec
public import RegentPairing

// Calls of the admin client for the nodes that share a store.

extension AdminClient {
  /// The nodes that have reported their state within the last day.
  public func nodes() async throws(AdminError) -> [NodeEntry] { try await list(AdminPaths.nodes) }

  public func node(_ name: NodeID) async throws(AdminError) -> NodeEntry {
    try await document(.get, AdminPaths.one(AdminPaths.nodes, name.text))
  }

  /// With `isOn`, makes a node answer its long polls and hold no new ones, before it is stopped; otherwise ends that
  /// state.
  public func drain(_ name: NodeID, _ isOn: Bool) async throws(AdminError) -> NodeEntry {
    try await document(.post, AdminPaths.act(AdminPaths.nodes, name.text, isOn ? "drain" : "resume"))
  }
}
