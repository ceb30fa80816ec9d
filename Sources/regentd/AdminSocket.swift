import HTTPServer
import PairingService
import RegentPlatform

/// A server of its own for `regentctl`: nothing administrative listens on the network.
func adminServer(
  _ paths: ServicePaths, _ core: ServiceCore, _ upkeep: some AdminUpkeep,
  metrics: @escaping @Sendable () -> String
) throws -> Server {
  let access = AdminAccess(ownUser: Accounts.effectiveUser, group: paths.adminGroup)
  let handler = try AdminRoutes(core, access: access, upkeep: upkeep).handler(
    metrics: metrics)
  var configuration = ServerConfiguration()
  configuration.loops = 1
  configuration.connections = 128
  configuration.bodyBytes = 1 << 20
  // Members of the group must not keep an operator out.
  configuration.favour(rootAnd: Accounts.effectiveUser)
  // A large database takes its time to be copied and verified.
  configuration.deadlines.reply = .seconds(600)
  // The mode decides who may connect at all; `AdminGuard` looks at the peer again.
  let address = ListenAddress.local(
    path: paths.adminSocket, mode: paths.adminGroup == nil ? 0o600 : 0o660,
    group: paths.adminGroup)
  return try Server([Listener(address, handler: handler)], configuration: configuration)
}
