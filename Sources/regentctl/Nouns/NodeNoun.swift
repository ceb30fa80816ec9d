import Administration
import CommandKit
import RegentPairing

/// `regentctl node`.
enum NodeNoun {
  static let command = Command(
    "node", "the services that share a database",
    details: """
      Several regentd on one PostgreSQL database are one service; each has a name (regentd serve --node NAME). A node \
      that drains holds no more replies and hands over those that it holds within ten seconds, and its /readyz says \
      503: stop it then, and no box waits for an answer that is cut. It drains until it is told otherwise, or started \
      anew.
      """,
    commands: [
      verb("list", "list the nodes; * is the one that was asked", example: "node list") { call, admin in
        call.show(
          list: try await admin.nodes(), id: \.name.text,
          [
            Table.Column.id("NAME"), Table.Column(""), Table.Column("VERSION"), Table.Column("WAITING"),
            Table.Column("STATE"), Table.Column("SINCE", .time),
          ]
        ) {
          [$0.name.text, $0.asked ? "*" : "", $0.version, String($0.waiting), state(of: $0), shown($0.started)]
        }
      },
      verb("show", "show a node, by default the one that is asked", inputs: [name], example: "node show tv-1") {
        call, admin in
        let node = try await named(call[name], admin)
        call.show(node.json, lines: lines(of: node))
      },
      verb(
        "drain", "have a node hand over the replies that it holds, by default the one that is asked",
        inputs: [name, off], example: "node drain tv-1"
      ) { call, admin in
        let node = try await admin.drain(named(call[name], admin).name, !call[off])
        call.show(
          node.json,
          lines: [
            node.draining
              ? "node \(node.name) drains: \(node.waiting) replies are handed over within ten seconds"
              : "node \(node.name) holds replies again"
          ])
      },
    ])

  private static let name = Input.optionalArgument(
    "NAME", identifier("NAME", Names.Node.self), "the node's name")
  private static let off = Input.flag("off", "have it hold replies again")

  private static func named(_ name: NodeID?, _ admin: AdminClient) async throws -> NodeEntry {
    if let name { return try await admin.node(name) }
    guard let own = try await admin.nodes().first(where: \.asked) else {
      throw CommandError("the service has no name", hint: "give it one: regentd serve --node NAME")
    }
    return own
  }

  private static func state(of node: NodeEntry) -> String {
    if Duration.milliseconds(node.silence) > NodeID.silence { return "silent for \(node.silence / 1_000) s" }
    return node.draining ? "draining" : "serving"
  }

  private static func lines(of node: NodeEntry) -> [String] {
    details([
      "name": node.name.text, "version": node.version, "since": shown(node.started), "state": state(of: node),
      "waiting": String(node.waiting), "asked": node.asked ? "yes" : "no",
    ])
  }
}
