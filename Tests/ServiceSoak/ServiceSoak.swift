internal import Administration
internal import Glibc
internal import RegentPairing
internal import TestSupport

/// Kills the service at random moments under a mixed load, and checks what it had acknowledged.
struct ServiceSoak {
  let cycles: Int
  let losesLog: Bool

  /// A new database after this many kills, because every kill is followed by an inspection of the whole database.
  private static let cyclesPerFolder = 10
  private static let workers = 8

  /// Runs all cycles, or ends at the first loss.
  ///
  /// - Returns: whether no change was lost and none was made twice.
  func run() async throws -> Bool {
    var done = 0
    var totals = Totals()
    while done < cycles {
      let folder = try makeTemporaryFolder()
      defer { removeTree(folder) }
      let count = min(Self.cyclesPerFolder, cycles - done)
      guard try await run(count, in: folder, &totals) else { return false }
      done += count
    }
    say(
      "\(done) kills, each with a change in flight (\(totals.inFlight) in all, \(totals.idle) idle cycles repeated): "
        + "\(totals.created) codes and \(totals.approved) approvals acknowledged, none lost, none made twice"
    )
    return true
  }

  private struct Totals {
    var created = 0
    var approved = 0
    var inFlight = 0
    var idle = 0
  }

  private func run(_ count: Int, in folder: String, _ totals: inout Totals) async throws -> Bool {
    var service = try LiveService(in: folder)
    let caller = try await service.provision()
    try service.stop()
    service = try LiveService(in: folder)
    let ledger = Ledger()
    var counted = 0
    while counted < count {
      let inFlight = try await loadAndKill(service, caller, ledger)
      if losesLog { _ = unsafe unlink("\(folder)/regent.db-wal") }
      service = try LiveService(in: folder)
      let losses = await Inspection(calls: caller.at(service), ledger: ledger).run()
      guard losses.isEmpty else {
        say("LOST after kill \(counted + 1): \(losses.count) acknowledged changes: \(losses.prefix(5))")
        return false
      }
      // A kill while no change was under way proves nothing, so the cycle is repeated.
      guard inFlight > 0 else {
        totals.idle += 1
        continue
      }
      totals.inFlight += inFlight
      counted += 1
    }
    let twice = try await approvedTwice(service)
    guard twice.isEmpty else {
      say("LOST: approved twice: \(twice.prefix(5))")
      return false
    }
    totals.created += ledger.count { $0.code != nil }
    totals.approved += ledger.count { $0.approval == .acknowledged }
    service.kill()
    return true
  }

  /// - Returns: the number of changes that were sent and not answered when the service was killed.
  private func loadAndKill(_ service: LiveService, _ caller: Caller, _ ledger: Ledger) async throws
    -> Int
  {
    let calls = caller.at(service)
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<Self.workers {
        group.addTask { try await Worker(calls: calls, ledger: ledger).run() }
      }
      try await pass(milliseconds: Int.random(in: 20..<250))
      service.kill()
      var inFlight = 0
      for try await wasInFlight in group where wasInFlight { inFlight += 1 }
      return inFlight
    }
  }

  /// The registrations that were approved more than once according to the audit log, which is part of each transaction.
  private func approvedTwice(_ service: LiveService) async throws -> [String] {
    var seen: Set<String> = []
    var twice: [String] = []
    var last: Int64 = 0
    while true {
      let lines = try await service.admin.audit(after: last)
      for line in lines where line.action == "code.approve" && line.outcome == "done" {
        if !seen.insert(line.subject).inserted { twice.append(line.subject) }
      }
      guard let end = lines.last?.number else { return twice }
      last = end
    }
  }
}
