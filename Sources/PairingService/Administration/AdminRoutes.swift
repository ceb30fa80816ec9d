package import HTTPServer
internal import Administration
internal import HTTPCodec

/// What the admin socket answers: every noun of `regentctl`, and the metrics.
///
/// Each part mounts its own; ``AdminDoor`` decides who may come in and turns errors into answers.
package struct AdminRoutes: Sendable {
  private let core: ServiceCore
  private let door: AdminDoor
  private let upkeep: any AdminUpkeep

  /// The routes of a service.
  ///
  /// - Parameters:
  ///   - core: the service.
  ///   - admittance: who may come in.
  ///   - upkeep: what reaches below the store: copies, the master key, checks.
  package init(_ core: ServiceCore, admittance: Admittance, upkeep: any AdminUpkeep) {
    self.core = core
    self.upkeep = upkeep
    door = AdminDoor(core, admittance)
  }

  /// A handler for the admin socket; `metrics` gives the numbers as Prometheus reads them.
  package func handler(metrics: @escaping @Sendable () -> String) throws -> any Handler {
    var routes = Routes()
    var desk = AdminDesk(core: core, door: door, routes: routes)
    desk.mountRequestors()
    desk.mountProviders()
    desk.mountIntegrations()
    desk.mountAccounts()
    desk.mountEntitlements()
    desk.mountKeys()
    desk.mountStatements()
    desk.mountCodes()
    desk.mountDevices()
    desk.mountSessions()
    desk.mountTokens()
    desk.mountPasses()
    desk.mountSigningKeys()
    desk.mountAudit()
    desk.mountNumbers()
    desk.mountUpkeep(upkeep)
    routes = desk.routes
    routes.get("/metrics") { [door] request, _ in
      door.admitted(request) { _ in
        Response(
          .ok, type: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics().utf8))
      }
    }
    return try Router(routes) { [door] request, refusal in door.refuse(request, refusal) }
  }
}

/// The routes while they are gathered, with what their actions need.
struct AdminDesk {
  let core: ServiceCore
  let door: AdminDoor
  var routes: Routes

  mutating func on(_ method: Method, _ pattern: String, _ action: @escaping AdminAction) {
    routes.on(method, pattern) { [door] request, path in
      door.answer(request, path, action)
    }
  }
}
