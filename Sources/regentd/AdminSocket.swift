import CommandKit
import HTTPServer
import PairingService
import RegentPlatform

/// The server for `regentctl`.
///
/// It is separate, so that no administrative call is reachable from the network.
func adminServer(
  _ paths: ServicePaths, _ core: ServiceCore, _ upkeep: some AdminUpkeep,
  metrics: @escaping @Sendable () -> String
) throws -> Server {
  let access = AdminAccess(ownUser: Accounts.effectiveUser, groups: paths.adminGroups)
  let handler = try AdminRoutes(core, access: access, upkeep: upkeep).handler(
    metrics: metrics)
  var configuration = ServerConfiguration()
  configuration.loops = 1
  configuration.connections = 128
  configuration.bodyBytes = 1 << 20
  // Connections of root and the service's user take precedence, so that other members of the group cannot lock them
  // out.
  configuration.favour(rootAnd: Accounts.effectiveUser)
  // Copying and verifying a large database takes minutes.
  configuration.deadlines.reply = .seconds(600)
  // The socket's mode and access list decide who may connect; `AdminGuard` checks the peer's credentials again.
  let owners = paths.adminGroups.first { $0.role == .owner }?.id
  let address = ListenAddress.local(path: paths.adminSocket, mode: owners == nil ? 0o600 : 0o660, group: owners)
  let server = try Server([Listener(address, handler: handler)], configuration: configuration)
  let others = paths.adminGroups.map(\.id).filter { $0 != owners }
  do throws(SystemError) {
    if !others.isEmpty { try AccessList.open(paths.adminSocket, toGroups: others, andOwningGroup: owners != nil) }
  } catch {
    throw CommandError(
      "the groups of the admin roles cannot be given access: \(error.description)",
      hint: "put the socket on a file system with access lists, such as /run: --admin-socket FILE")
  }
  return server
}
