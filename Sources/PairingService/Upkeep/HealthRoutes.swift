package import HTTPServer
internal import RegentHTTPCodec
internal import RegentJSON
internal import PairingStore
internal import RegentPlatform

/// The health endpoints, which say whether the process is alive and whether it is ready to serve.
package struct HealthRoutes: Sendable {
  private let core: ServiceCore
  private let writing: WriteProbe

  package init(_ core: ServiceCore) {
    self.core = core
    writing = WriteProbe(core)
  }

  package func mount(_ routes: inout Routes) {
    let alive = PreparedResponse(Self.answer(.ok, "ok", core.options.version))
    routes.get("/healthz") { _, _ in .now(Response(alive)) }
    routes.get("/readyz") { [core, writing] _, _ in
      .later { reply in
        Task {
          do throws(StoreError) {
            // This query is the cheapest one that reads the disk.
            _ = try await core.store.newestAuditNumber()
            // Writing is not tested while COMMITs wait for a standby: the write, and so the health check, would wait as
            // long as the standby is away.
            if !core.store.awaitsStandby { try await writing.check() }
            try core.requireRecentChanges()
            if let word = Self.reason(core) {
              // The failure is not logged, because load balancers ask every few seconds.
              reply.complete(Self.answer(.serviceUnavailable, word, core.options.version))
              return
            }
            let isDisputed = core.nodeChangeFeed.clockStanding == .disputed
            let clock = core.clockTrouble?.word ?? (isDisputed ? Self.disputed : nil)
            reply.complete(
              Self.answer(
                .ok, "ready", core.options.version, clock: clock, nextStart: core.nextStartProblem.withLock { $0 }))
          } catch {
            core.storeTrouble.note(error, isCall: false)
            let word =
              error == .diskFull ? "the disk is full: nothing can be written" : "the store does not answer"
            reply.complete(Self.answer(.serviceUnavailable, word, core.options.version))
          }
        }
      }
    }
  }

  /// Why a load balancer should send no new clients to this node although the store answers; nil when it may.
  static func reason(_ core: ServiceCore) -> String? {
    if core.drain.isOn { return "draining" }
    if core.store.awaitsStandby { return "changes wait for the standby" }
    if core.nodeChangeFeed.isOutvoted { return "the clock is wrong: most others agree on another time" }
    return nil
  }

  private static let disputed = "differs from the database server's, and either may be wrong"

  private static func answer(
    _ status: Status, _ word: String, _ version: String, clock: String? = nil, nextStart: String? = nil
  )
    -> Response
  {
    let body = JSONWriter.bytes { json in
      json.object { json in
        json.member("status", word)
        json.member("version", version)
        if let clock { json.member("clock", clock) }
        // The service still works, so the node reports that it is ready. The problem would show at the next restart.
        if let nextStart { json.member("nextStart", nextStart) }
      }
    }
    var response = Response(status, type: "application/json", body: body + [UInt8(ascii: "\n")])
    response.addHeader(.cacheControl, "no-store")
    return response
  }
}
