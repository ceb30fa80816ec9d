import RegentHTTPCodec
public import RegentPairing

// The nodes that share a store.

extension AdminClient {
  /// The nodes that have reported their state within a day.
  public func nodes() async throws(AdminError) -> [NodeEntry] { try await list(AdminPaths.nodes) }

  public func node(_ name: NodeID) async throws(AdminError) -> NodeEntry {
    try await document(.get, AdminPaths.one(AdminPaths.nodes, name.text))
  }

  /// Makes a node answer its long polls and hold no new ones, before it is stopped; or makes it hold them again.
  public func drain(_ name: NodeID, _ isOn: Bool) async throws(AdminError) -> NodeEntry {
    try await document(.post, AdminPaths.act(AdminPaths.nodes, name.text, isOn ? "drain" : "resume"))
  }
}
