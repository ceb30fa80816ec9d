internal import Glibc
internal import TestSupport

/// `regentd` with its usual limits, behind a proxy at 127.0.0.1, on a database of `fill-pairing`.
struct RegentdUnderTest {
  let port: UInt16
  let data: String
  private let folder: String
  private(set) var server: PinnedServer

  init(folder: String, codes: Int) throws {
    self.folder = folder
    port = try freePort()
    data = try fillPairing(folder: folder, codes: codes)
    server = try Self.start(folder, data, port)
    try awaitReadiness {}
  }

  /// Ends it with SIGTERM, as an upgrade does, and starts it again; calls `work` repeatedly until it is ready.
  mutating func restart(_ work: () -> Void = {}) throws {
    server.askToEnd()
    let status = try eventually("the end of regentd") {
      work()
      return server.status
    }
    guard status == 0 else { throw TestSupportError("regentd ended with \(status)") }
    server = try Self.start(folder, data, port)
    try awaitReadiness(work)
  }

  /// Waits for `/readyz`, because the program listens before it is ready.
  private func awaitReadiness(_ work: () -> Void) throws {
    try eventually("regentd is ready", within: 60) {
      work()
      return try run("curl", ["-sf", "http://127.0.0.1:\(port)/readyz"]).status == 0 ? true : nil
    }
  }

  private static func start(_ folder: String, _ data: String, _ port: UInt16) throws -> PinnedServer {
    let programs = try ownProgram().split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return try PinnedServer(
      "regentd", port: port, folder: folder,
      [
        "\(programs.joined(separator: "/"))/regentd", "serve", "--listen", "127.0.0.1:\(port)",
        "--database", "\(data)/bench.db", "--master-key", "\(data)/master-key",
        "--admin-socket", "\(data)/admin.sock", "--web", "\(packageFolder())/web", "--trust-proxy", "127.0.0.1",
      ])
  }
}
