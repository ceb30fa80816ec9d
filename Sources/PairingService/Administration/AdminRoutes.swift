package import HTTPServer
internal import Administration
internal import RegentHTTPCodec

/// What the admin socket answers: every noun of `regentctl`, and the metrics.
///
/// Each part mounts its own; ``AdminGuard`` decides who may come in and turns errors into answers.
package struct AdminRoutes: Sendable {
  private let core: ServiceCore
  private let adminGuard: AdminGuard
  private let upkeep: any AdminUpkeep

  /// The routes of a service.
  ///
  /// - Parameters:
  ///   - core: the service.
  ///   - access: who may come in.
  ///   - upkeep: what reaches below the store: copies, the master key, checks.
  package init(_ core: ServiceCore, access: AdminAccess, upkeep: any AdminUpkeep) {
    self.core = core
    self.upkeep = upkeep
    adminGuard = AdminGuard(core, access)
  }

  /// A handler for the admin socket; `metrics` gives the numbers as Prometheus reads them.
  package func handler(metrics: @escaping @Sendable () -> String) throws -> any Handler {
    var routes = Routes()
    var builder = AdminRouteBuilder(core: core, adminGuard: adminGuard, routes: routes)
    builder.mountRequestors()
    builder.mountProviders()
    builder.mountIntegrations()
    builder.mountAccounts()
    builder.mountManyAccounts()
    builder.mountEntitlements()
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
    routes = builder.routes
    routes.get("/metrics") { [adminGuard] request, _ in
      adminGuard.admitted(request) { _ in
        Response(
          .ok, type: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics().utf8))
      }
    }
    return try Router(routes) { [adminGuard] request, refusal in adminGuard.refuse(request, refusal) }
  }
}

/// The routes while they are gathered, with what their actions need.
struct AdminRouteBuilder {
  let core: ServiceCore
  let adminGuard: AdminGuard
  var routes: Routes

  mutating func on(_ method: Method, _ pattern: String, _ action: @escaping AdminAction) {
    routes.on(method, pattern) { [adminGuard] request, path in
      adminGuard.answer(request, path, action)
    }
  }
}
