import RegentCryptography
import HTTPTestSupport
import RegentPairing
import PairingStore
import PairingStoreSQLite
import RegentPairingWire
import SQLite
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// On the SQLite store of a real service: which calls write, and what survives concurrent calls.
@Suite struct `Permits on disk` {
  @Test func `repeated calls for the same permit write nothing`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let box = Box(service: service, client: client)
        try await box.signIn()
        #expect(try await box.authorize("news").status == 200)
        let before = store.statistics.requests
        for _ in 0..<5 {
          #expect(try await box.authorize("news").status == 200)
          #expect(try await box.get("/api/v1/tokens/authz", ["resource": "news"]).status == 200)
          #expect(try await box.media("news").status == 200)
          #expect(try await box.preauthorize("news,x").count == 2)
          #expect(try await box.get("/api/v1/tokens/usermetadata").status == 200)
        }
        #expect(store.statistics.requests == before)
        var guest = box
        guest.device = "box-2"
        #expect(try await guest.preview(Sample.pass).status == 204)
        #expect(try await guest.authorize("a").status == 200)
        // The audit line of the sign-in is written after the response.
        try await service.auditIsWritten()
        let opened = store.statistics.requests
        for _ in 0..<5 {
          #expect(try await guest.preview(Sample.pass).status == 204)
          #expect(try await guest.authorize("a").status == 200)
        }
        #expect(store.statistics.requests == opened)
      }
    }
  }

  @Test func `concurrent calls of many devices get consistent responses`() async throws {
    try await withFileStore { store in
      let service = try await TestService(
        on: store, options: { $0.limits.device = RateLimit(perSecond: 1000, burst: 1000) })
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let box = Box(service: service, client: client)
        try await box.signIn()
        let answers = try await withThrowingTaskGroup(of: Reply.self) { group in
          for number in 0..<40 {
            group.addTask { try await box.authorize(number.isMultiple(of: 2) ? "news" : "x") }
          }
          return try await group.reduce(into: [Reply]()) { $0.append($1) }
        }
        #expect(answers.filter { $0.status == 200 }.count == 20)
        #expect(Set(answers.map(\.text)).count == 2)
        // Of many concurrent attempts, a pass for two titles opens two.
        var guest = box
        guest.device = "box-2"
        #expect(try await guest.preview(Sample.promotion, ["generic_data": "me"]).status == 204)
        let asking = guest
        let opened = try await withThrowingTaskGroup(of: UInt16.self) { group in
          for number in 0..<20 {
            group.addTask { try await asking.authorize("title-\(number % 10)").status }
          }
          return try await group.reduce(into: [UInt16]()) { $0.append($1) }
        }
        #expect(opened.count { $0 == 200 } >= 2 && opened.allSatisfy { $0 == 200 || $0 == 403 })
        let data = try await asking.get("/api/v1/tokens/usermetadata").object("data")
        #expect(data["remaining_resources"] == "0" && data.texts("used_assets").count == 2)
      }
    }
  }

  @Test func `a sign-out during authorization leaves no permit behind`() async throws {
    try await withFileStore { store in
      let service = try await TestService(
        on: store, options: { $0.limits.device = RateLimit(perSecond: 1000, burst: 1000) })
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let box = Box(service: service, client: client)
        for _ in 0..<5 {
          try await box.signIn()
          let answers = try await withThrowingTaskGroup(of: Reply.self) { group in
            for _ in 0..<10 { group.addTask { try await box.authorize("news") } }
            group.addTask { try await box.send("DELETE", "/api/v1/logout") }
            for _ in 0..<10 { group.addTask { try await box.media("news") } }
            return try await group.reduce(into: [Reply]()) { $0.append($1) }
          }
          #expect(answers.allSatisfy { [200, 204, 403].contains($0.status) })
          #expect(try await box.media("news")["message"] == "User not Authenticated")
          #expect(try await box.get("/api/v1/tokens/authz", ["resource": "news"]).status == 412)
        }
      }
    }
  }
}
