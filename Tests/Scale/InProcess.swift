internal import Administration
internal import Glibc
internal import HTTPServer
internal import PairingService
internal import PairingStore
internal import PasswordHashing
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPlatform
internal import TestSupport

// Nodes without sockets: the service with the real store and its waiters, called as the HTTP engine calls it.

/// A node in this process.
struct InProcessNode {
  let core: ServiceCore
  let boxes: any Handler
  let operators: any Handler
  private let work: Task<Void, Never>

  init(_ name: String, on store: any Store) async throws {
    var options = ServiceOptions(publicURL: "http://127.0.0.1:1")
    options.node = NodeID(name)
    options.limits = .generous
    core = try await ServiceCore(options, store: store)
    boxes = RememberedPolls(core, before: try Router(ServiceRoutes.devices(core), refuse: ServiceRoutes.refuse))
    operators = try AdminRoutes(core, access: AdminAccess(ownUser: 0, groups: []), upkeep: NoUpkeep()).handler { "" }
    work = Task { [core] in
      async let following: Void = NodeFollower(core).run()
      await Upkeep(core).run()
      await following
    }
  }

  func end() async {
    core.waiters.stop()
    work.cancel()
    await work.value
  }
}

extension ServiceLimits {
  /// Limits that a load from one address does not reach; `RealNodes.options` are the same for `regentd`.
  static var generous: ServiceLimits {
    var limits = ServiceLimits()
    limits.device = RateLimit(perSecond: 100_000, burst: 100_000)
    limits.newcomers = RateLimit(perSecond: 1_000, burst: 100_000)
    limits.liveCodes = 1_000_000
    limits.signInsOfAccount = 1_000_000
    return limits
  }
}

/// Answers every request for a backup, check or key change with an error.
private struct NoUpkeep: AdminUpkeep {
  private let nothing = AdminError(.failed, "there is no database")

  func makeBackup() async throws(AdminError) -> BackupEntry { throw nothing }
  func backupPart(_ id: String, from offset: Int64, limit: Int) async throws(AdminError) -> [UInt8] { throw nothing }
  func dropBackup(_ id: String) async throws(AdminError) -> BackupEntry { throw nothing }
  func changeMasterKey() async throws(AdminError) -> Finding { throw nothing }
  func findings() async -> [Finding] { [] }
}

/// Nodes in this process without sockets.
final class InProcessCluster: Cluster {
  let nodes: [InProcessNode]
  var count: Int { nodes.count }

  init(_ nodes: [InProcessNode]) { self.nodes = nodes }

  func line(to node: Int) -> any Line { InProcessLine(nodes[node].boxes) }

  func operatorLine(to node: Int) -> any Line { InProcessLine(nodes[node].operators) }

  func turn(until time: Double) {
    let left = time - seconds()
    if left > 0 { usleep(UInt32(left * 1e6)) }
  }

  func processors() throws -> Double { try known(processor(of: getpid())) }
}

/// Calls a handler as the engine does, with the value that the connection remembers.
private final class InProcessLine: Line {
  private let handler: any Handler
  private let remembered = Kept<(any AnyObject & Sendable)?>(nil)

  init(_ handler: any Handler) { self.handler = handler }

  func send(_ call: Call, _ done: @escaping @Sendable (Reply) -> Void) {
    var request = call.request
    request.remembered = remembered.withLock { $0 }
    let finish: @Sendable (Response) -> Void = { [remembered] response in
      if let new = response.remembered { remembered.withLock { $0 = new } }
      done(Reply(status: response.status.rawValue, body: response.body))
    }
    switch handler.handle(request) {
    case .now(let response): finish(response)
    case .later(let begin): begin(PendingReply { finish($0) })
    }
  }
}

func known<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw TestSupportError("a process has ended") }
  return value
}
