internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore

// Admin routes for the nodes that share the store.

extension AdminRouteBuilder {
  mutating func mountNodes() {
    let started = core.clock.now
    on(.get, AdminPaths.nodes) { call throws(AdminError) in .list(of: try await call.nodes(since: started)) }
    on(.get, AdminPaths.one(AdminPaths.nodes, "{node}")) { call throws(AdminError) in
      .document(try await call.node(since: started))
    }
    on(.post, AdminPaths.act(AdminPaths.nodes, "{node}", "drain")) { call throws(AdminError) in
      .document(try await call.drain(true, since: started))
    }
    on(.post, AdminPaths.act(AdminPaths.nodes, "{node}", "resume")) { call throws(AdminError) in
      .document(try await call.drain(false, since: started))
    }
  }
}

extension AdminCall {
  fileprivate func nodes(since started: Instant) async throws(AdminError) -> [NodeEntry] {
    let records = try await stored { () throws(StoreError) in try await core.store.nodes() }
    let others = records.filter { $0.id != core.options.node }.map { record in
      let said = NodeStatusExchange.Said(reading: record.said)
      return NodeEntry(
        name: record.id, version: record.version, started: record.started,
        silence: Int(record.silence.wholeMilliseconds),
        waiting: said.waiting, draining: said.isDraining || record.instruction == .drain, asked: false)
    }
    guard let name = core.options.node else { return others }
    let (said, record) = (NodeStatusExchange(core).own, records.first { $0.id == name })
    let own = NodeEntry(
      name: name, version: core.options.version, started: record?.started ?? started, silence: 0,
      waiting: said.waiting, draining: said.isDraining || record?.instruction == .drain, asked: true)
    return (others + [own]).sorted { $0.name < $1.name }
  }

  fileprivate func node(since started: Instant) async throws(AdminError) -> NodeEntry {
    let name = text("node")
    guard let found = try await nodes(since: started).first(where: { $0.name.text == name }) else {
      throw .missing("node", name)
    }
    return found
  }

  fileprivate func drain(_ isOn: Bool, since started: Instant) async throws(AdminError) -> NodeEntry {
    var found = try await node(since: started)
    if core.store.isShared {
      let name = found.name
      let isThere = try await stored { () throws(StoreError) in
        try await core.store.tell(name, isOn ? .drain : nil)
      }
      guard isThere else {
        throw AdminError(
          .refused, "the node \(name) is not reachable", hint: "list the nodes: regentctl node list")
      }
    } else {
      core.drain.set(isOn)
    }
    await core.audit.write(.operator(`operator`), isOn ? "node.drain" : "node.resume", found.name.text)
    found.draining = isOn
    return found
  }
}
