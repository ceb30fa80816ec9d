internal import Administration
internal import Glibc
internal import TestSupport

/// Takes a backup of a service under load, restores it elsewhere and checks that everything which was acknowledged
/// before the backup began is in it.
struct BackupUnderLoad {
  /// Whether acknowledgements during the backup count, too.
  ///
  /// Then some must be missing, or the check proves nothing.
  let expectsTooMuch: Bool

  private static let workers = 8
  /// The sign-ins before the backup begins, and those while it is made and afterwards.
  private static let batch = 60

  /// - Returns: whether nothing was lost.
  func run() async throws -> Bool {
    let (first, second) = (try makeTemporaryFolder(), try makeTemporaryFolder())
    defer {
      removeTree(first)
      removeTree(second)
    }
    let service = try LiveService(in: first)
    let caller = try await service.provision()
    let ledger = Ledger()
    let backup = "\(first)/copy.db"
    let calls = caller.at(service)
    let promises = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<Self.workers {
        group.addTask { try await Worker(calls: calls, ledger: ledger).run() }
      }
      try await signIns(Self.batch, ledger)
      var promises = try await Promises(service, ledger)
      let before = ledger.count { $0.signIn != nil }
      // With the real regentctl in its own process, while the boxes continue.
      try await service.control(["backup", backup])
      try await signIns(before + Self.batch, ledger)
      if expectsTooMuch { promises = try await Promises(service, ledger) }
      service.kill()
      for try await _ in group {}
      return promises
    }
    try refusesFlippedByte(backup, in: second)
    try copyFile("\(first)/master-key", "\(second)/master-key")
    try restore(backup, in: second)
    let restored = try LiveService(in: second)
    defer { restored.kill() }
    let losses = try await promises.missing(in: caller.at(restored), backup)
    guard losses.isEmpty else {
      say("LOST: \(losses.count) acknowledged changes: \(losses.prefix(5))")
      return false
    }
    say(
      "\(promises.codes) codes, \(promises.signIns.count) sign-ins and \(promises.audit.count) audit lines were acknowledged "
        + "before the backup began, \(ledger.count { $0.code != nil }) codes in all: none was lost"
    )
    return true
  }

  private func signIns(_ count: Int, _ ledger: Ledger) async throws {
    // The limit is high, because the sign-ins take longer on a busy machine.
    try await eventually("\(count) sign-ins", within: 120) {
      ledger.count { $0.signIn != nil } >= count
    }
  }

  private func refusesFlippedByte(_ backup: String, in folder: String) throws {
    var bytes = try readFile(backup)
    bytes[Int.random(in: bytes.indices)] ^= 1
    try writeFile("\(folder)/flipped.db", bytes)
    let ended = try TestSupport.run(
      try neighbour("regentd"), restoring("\(folder)/flipped.db", in: folder))
    guard ended.status == 1, unsafe access("\(folder)/regent.db", F_OK) != 0 else {
      throw Surprise(description: "restore accepted a backup with a flipped bit: \(ended.outputText)\(ended.errorText)")
    }
  }

  private func restore(_ backup: String, in folder: String) throws {
    let ended = try TestSupport.run(try neighbour("regentd"), restoring(backup, in: folder))
    guard ended.status == 0 else { throw Surprise(description: "restore: \(ended.errorText)") }
  }

  private func restoring(_ backup: String, in folder: String) -> [String] {
    [
      "restore", backup, "--database", "\(folder)/regent.db", "--master-key",
      "\(folder)/master-key", "--yes",
    ]
  }

  private func copyFile(_ source: String, _ target: String) throws {
    try writeFile(target, try readFile(source))
  }
}

/// Everything that the service had acknowledged at one moment.
private struct Promises {
  /// The number of codes that it had issued.
  let codes: Int
  /// The sign-in that each signed-in box received.
  let signIns: [String: String]
  /// The audit log up to then.
  let audit: [AuditLine]

  init(_ service: LiveService, _ ledger: Ledger) async throws {
    codes = ledger.count { $0.code != nil }
    signIns = ledger.signIns()
    audit = try await wholeAudit(service.admin, upTo: try await service.admin.newestAuditNumber())
  }

  /// Returns what is missing at a service with the restored backup, as sentences.
  func missing(in calls: Calls, _ backup: String) async throws -> [String] {
    var losses: [String] = []
    for (device, document) in signIns where try await calls.poll(device) != document {
      losses.append("the sign-in of \(device)")
    }
    let kept = try await wholeAudit(calls.admin, upTo: .max)
    for (place, line) in audit.enumerated() where place >= kept.count || kept[place] != line {
      losses.append("line \(line.number) of the audit log")
    }
    // A restore deliberately removes all codes, so they are counted in the backup itself.
    let counted = try TestSupport.run(
      "python3",
      [
        "-c",
        "import sqlite3, sys; print(sqlite3.connect(f'file:{sys.argv[1]}?mode=ro&immutable=1', uri=True)"
          + ".execute('SELECT count(*) FROM registration').fetchone()[0])", backup,
      ])
    let rows = Int(counted.outputText.filter(\.isNumber)) ?? 0
    if rows < codes { losses.append("\(codes - rows) codes (\(counted.errorText))") }
    for finding in try await calls.admin.doctor() where finding.status == .bad {
      losses.append(finding.detail)
    }
    return losses
  }
}

private func wholeAudit(_ admin: AdminClient, upTo end: Int64) async throws -> [AuditLine] {
  var all: [AuditLine] = []
  while (all.last?.number ?? 0) < end {
    let page = try await admin.audit(after: all.last?.number ?? 0)
    guard !page.isEmpty else { break }
    all += page
  }
  return all.filter { $0.number <= end }
}
