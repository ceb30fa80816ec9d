internal import Administration
internal import Glibc
internal import RegentPairing
internal import TestSupport

/// Kills the service at random moments under a mixed load, and looks for what it had promised.
struct ServiceSoak {
  let cycles: Int
  let losesLog: Bool

  /// A fresh database now and then: after each kill all promises of its life are looked at.
  private static let cyclesPerFolder = 10
  private static let workers = 8

  /// Runs all cycles, or ends at the first loss.
  ///
  /// - Returns: whether nothing was lost and nothing happened twice.
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
        say("LOST after kill \(counted + 1): \(losses.count) promises: \(losses.prefix(5))")
        return false
      }
      // Killed while nothing was under way, a cycle proves nothing: it is done again.
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

  /// - Returns: how many changes were sent and not answered when the service died.
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

  /// Registrations that the audit log, which is written in the same transaction, saw approved more than once.
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
