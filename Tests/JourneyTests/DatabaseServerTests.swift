import HTTPTestSupport
import PairingStorePostgreSQL
import PostgreSQLStoreTestSupport
import ServiceTestSupport
import Testing

@testable import PairingService

/// Runs a service on a PostgreSQL server.
///
/// A second handle on the same database stands for a restarted service.
@Suite struct `A service on a PostgreSQL database` {
  @Test func `a box signs in, and a second service on the same database continues with its sign-in and code`()
    async throws
  {
    try await withDatabaseStores(2) { stores in
      let service = try await TestService(on: stores[0])
      var code = ""
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let box = Box(service: service, client: client)
        try await box.signIn()
        #expect(try await box.authorize("news").status == 200)
        #expect(try await box.authorize("news").text == box.authorize("news").text)
        #expect(try await box.media("news").status == 200)
        var other = box
        other.device = "box-2"
        code = try await other.code(["mvpd": Sample.provider])
        try await service.auditIsWritten()
      }
      let next = try await TestService(restarting: service, on: stores[1])
      try await TestTransport.inProcess.withClient(of: try next.router()) { client in
        let box = Box(service: next, client: client)
        #expect(try await box.media("news").status == 200)
        var other = box
        other.device = "box-2"
        try await next.approve(code)
        #expect(try await other.get("/api/v1/tokens/authn").status == 200)
        #expect(try await box.send("DELETE", "/api/v1/logout").status == 204)
        #expect(try await box.media("news").status == 403)
        try await next.auditIsWritten()
      }
      #expect(try await stores[1].verifyRows() == 0)
      #expect(try await stores[1].auditProblems() == [])
    }
  }
}
