import Administration
import CommandKit
import RegentPairing

/// The commands of `regentctl node`.
enum NodeNoun {
  static let command = Command(
    "node", "services that share one database",
    details: """
      Several regentd on one PostgreSQL database are nodes of one service (regentd serve --node NAME). Drain a node \
      before you stop it: its /readyz answers 503, and it ends its long polls within ten seconds, so that boxes \
      continue at another node. It drains until "drain --off" or a restart.
      """,
    commands: [
      verb("list", "list nodes; * marks the one that answered", example: "node list") { call, admin in
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
      verb("show", "show a node", inputs: [name], example: "node show tv-1") {
        call, admin in
        let node = try await named(call[name], admin)
        call.show(node.json, lines: lines(of: node))
      },
      verb(
        "drain", "end a node's long polls before it is stopped",
        inputs: [name, off], example: "node drain tv-1"
      ) { call, admin in
        let node = try await admin.drain(named(call[name], admin).name, !call[off])
        call.show(
          node.json,
          lines: [
            node.draining
              ? "node \(node.name) is draining: \(node.waiting) long polls end within ten seconds"
              : "node \(node.name) accepts long polls again"
          ])
      },
    ])

  private static let name = Input.optionalArgument(
    "NAME", identifier("NAME", Names.Node.self), "the node's name (default: the node that answers)")
  private static let off = Input.flag("off", "end the draining")

  private static func named(_ name: NodeID?, _ admin: AdminClient) async throws -> NodeEntry {
    if let name { return try await admin.node(name) }
    guard let own = try await admin.nodes().first(where: \.asked) else {
      throw CommandError(
        "the service has no node name, and the command names no node",
        hint: "name a node, or start the service with a name: regentd serve --node NAME")
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
