package import HTTPServer
internal import Administration
internal import RegentHTTPCodec

/// The routes of the admin socket: one group of routes for each noun of `regentctl`, and the metrics.
///
/// Each group mounts its own routes. ``AdminGuard`` checks the client of each request and converts errors to responses.
package struct AdminRoutes: Sendable {
  private let core: ServiceCore
  private let adminGuard: AdminGuard
  private let upkeep: any AdminUpkeep

  /// Makes the routes of the admin socket.
  ///
  /// `upkeep` performs operations below the store: backups, the change of the master key, checks.
  package init(_ core: ServiceCore, access: AdminAccess, upkeep: any AdminUpkeep) {
    self.core = core
    self.upkeep = upkeep
    adminGuard = AdminGuard(core, access)
  }

  /// Makes the handler of the admin socket.
  ///
  /// `metrics` returns the metrics in the Prometheus text format.
  package func handler(metrics: @escaping @Sendable () -> String) throws -> any Handler {
    try Router(routes(metrics)) { [adminGuard] request, refusal in adminGuard.refuse(request, refusal) }
  }

  /// The calls of the admin socket, such as `GET /v1/stats`.
  package var calls: [String] { routes { "" }.mounted.map { "\($0.method.token) \($0.pattern)" } }

  private func routes(_ metrics: @escaping @Sendable () -> String) -> Routes {
    var builder = AdminRouteBuilder(core: core, adminGuard: adminGuard, routes: Routes())
    builder.mountRequestors()
    builder.mountProviders()
    builder.mountIntegrations()
    builder.mountAccounts()
    builder.mountManyAccounts()
    builder.mountErasure()
    builder.mountEntitlements()
    builder.mountTitleTest()
    builder.mountKeys()
    builder.mountStatements()
    builder.mountInvitations()
    builder.mountCodes()
    builder.mountDevices()
    builder.mountWhy()
    builder.mountBoxes()
    builder.mountClients()
    builder.mountClientInvitations()
    builder.mountGrants()
    builder.mountSessions()
    builder.mountTokens()
    builder.mountPasses()
    builder.mountSigningKeys()
    builder.mountAudit()
    builder.mountNumbers()
    builder.mountNodes()
    builder.mountUpkeep(upkeep)
    var routes = builder.routes
    let role = AdminRole.needed(for: .get, "/metrics")
    routes.get("/metrics") { [adminGuard] request, _ in
      adminGuard.admitted(request, needs: role) {
        Response(
          .ok, type: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics().utf8))
      }
    }
    return routes
  }
}

/// Collects the routes of the admin socket, together with what their actions need.
struct AdminRouteBuilder {
  let core: ServiceCore
  let adminGuard: AdminGuard
  var routes: Routes

  mutating func on(_ method: Method, _ pattern: String, _ action: @escaping AdminAction) {
    let role = AdminRole.needed(for: method, pattern)
    routes.on(method, pattern) { [adminGuard] request, path in
      adminGuard.answer(request, path, needs: role, action)
    }
  }
}
