import Administration
package import HTTPServer
import HTTPTestSupport
package import PairingService
import RegentHTTPCodec
import TestSupport

/// Calls the admin routes of a service without a socket, as root by default.
package struct AdminSocket {
  private let handler: any Handler

  /// The calls of the socket, such as `GET /v1/stats`.
  package let calls: [String]

  package init(_ core: ServiceCore, ownUser: UInt32 = 0, groups: [AdminGroup] = []) throws {
    let routes = AdminRoutes(core, access: AdminAccess(ownUser: ownUser, groups: groups), upkeep: NoUpkeep())
    handler = try routes.handler { "" }
    calls = routes.calls
  }

  package func send(
    _ method: String, _ target: String, _ body: String = "",
    from peer: Peer = .local(Credentials(process: 1, user: 0, group: 0)), headers: String = ""
  ) async throws -> (status: UInt16, body: [UInt8], text: String) {
    let head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    let request = try Request(head: Array(head.utf8), body: Array(body.utf8), peer: peer)
    let handler = handler
    let response = try await awaitingCallback("the answer to \(method) \(target)") { callback in
      switch handler.handle(request) {
      case .now(let response): callback(response)
      case .later(let begin): begin(PendingReply { callback($0) })
      }
    }
    return (response.status.rawValue, response.body, String(decoding: response.body, as: UTF8.self))
  }
}

/// Answers every request for a backup, check or key change with an error; other tests cover those with a database.
private struct NoUpkeep: AdminUpkeep {
  private let nothing = AdminError(.failed, "there is no database")

  func makeBackup() async throws(AdminError) -> BackupEntry { throw nothing }
  func backupPart(_ id: String, from offset: Int64, limit: Int) async throws(AdminError) -> [UInt8] { throw nothing }
  func dropBackup(_ id: String) async throws(AdminError) -> BackupEntry { throw nothing }
  func changeMasterKey() async throws(AdminError) -> Finding { throw nothing }
  func findings() async -> [Finding] { [] }
}
