import Administration
import CommandKit
import Glibc
import RegentJSON
import RegentPairing
import RegentPlatform

/// The commands `regentctl export` and `regentctl apply`.
enum ProvisioningVerbs {
  static let export = verb(
    "export", "print the configuration records as one JSON document",
    details: """
      The document has requestors, providers, integrations, accounts and rules. "regentctl apply" reads it, and you \
      can keep it in a repository. It has no keys and no passwords; "regentctl backup" saves those. With --lines each \
      record is one line.
      """,
    inputs: [asLines], example: "export > regent.json"
  ) { call, admin in
    let state = try await ProvisioningState(admin)
    if call[asLines] {
      for line in state.file.lines { call.console.print(json: .object(line)) }
      return
    }
    // The output is escaped, because names come from outside and the output may be a terminal.
    call.console.draw(harmlessJSON(.object(state.file.object), isPretty: true) + "\n")
  }

  static let apply = verb(
    "apply", "change the service's records to match a file",
    details: """
      Adds records that are missing and changes records that differ; a member that the file leaves out is set to its \
      default. Records that are not in the file stay, unless you add --prune; sections that are not in the file stay \
      even then. --dry-run prints the changes and makes none: + add, ~ change, - remove. Use - as FILE for standard \
      input. The file may also have one record per line: {"account":{"provider":"cable","name":"anna"}}.

      A new account has no password, or the one in its member passwordHash: argon2id ($argon2id$v=19$…), bcrypt \
      ($2b$12$…), PBKDF2 with SHA-256 or SHA-512 ($pbkdf2-sha256$…, pbkdf2_sha256$…). The service hashes it anew at \
      the first sign-in. apply never changes an existing password. Accounts are written in batches of up to 500, each \
      in one transaction. After a failure apply the file again; it continues where it stopped.
      """,
    inputs: [file, dryRun, prune, yes, asLines], example: "apply regent.json --dry-run"
  ) { call, admin in
    if call[asLines], !call.wantsJSON {
      throw CommandError.usage("--lines works only with --json", hint: "add --json")
    }
    let wanted = try read(call[file])
    let state = try await call.console.progress("reading the service's records") {
      try await ProvisioningState(admin)
    }
    try wanted.checkNames(beside: state.file, prunes: call[prune], in: title(of: call[file]))
    if call[prune] { try wanted.checkPruning(beside: state.file, in: title(of: call[file])) }
    if !call.wantsJSON { wanted.noteEmptyHouseholds(beside: state.file, prunes: call[prune], call.console) }
    if call[prune], !call.wantsJSON { wanted.noteLeftSections(of: state.file, call.console) }
    let found = try await call.console.progress("checking password hashes") {
      try await HashFindings(of: wanted, admin)
    }
    let plan = makePlan(from: state, to: wanted, found, call)
    if call[dryRun] {
      for step in plan.steps { call.show(step) }
      call.sum(plan, "would be changed")
      return
    }
    let removals = plan.steps.count(where: \.isLoss)
    if removals > 0 {
      try Prompt.confirm("remove \(counted(removals, "record"))", unless: yes, call)
    }
    let progress = StepProgress(call.console, of: plan.steps.count)
    do {
      defer { progress.end() }
      try await plan.perform(admin) { step in
        call.show(step)
        progress.step()
      }
    }
    if !plan.steps.isEmpty {
      let (after, found) = try await call.console.progress("checking the result") {
        (try await ProvisioningState(admin), try await HashFindings(of: wanted, admin))
      }
      try makePlan(from: after, to: wanted, found, call)
        .refuseRest(call[file])
    }
    call.sum(plan, "changed")
  }

  private static func makePlan(
    from state: ProvisioningState, to wanted: ProvisioningFile, _ found: HashFindings, _ call: Invocation
  ) -> Plan {
    var plan = Plan(from: state, to: wanted, withoutPassword: found.withoutPassword)
    let kept = Set(ProvisioningFile.Section.allCases).subtracting(call[prune] ? wanted.sections : [])
    plan.dropRemovals(of: kept)
    return plan
  }

  private static let file = Input.argument(
    "FILE", .file, "a file that regentctl export printed; - for standard input")
  private static let dryRun = Input.flag("dry-run", "print the changes, and make none")
  private static let prune = Input.flag("prune", "remove records that the file's sections do not have")

  fileprivate static let asLines = Input.flag(
    "lines", "print one document per line; with apply --json: one line per change")

  private static func read(_ path: String) throws -> ProvisioningFile {
    let bytes = try wholeFile(path, limit: 64 << 20)
    do {
      if let lines = JSONLines(bytes) {
        return try ProvisioningFile(lines: { try lines.next() }, shape: { $0 as any Error })
      }
      if CSVTable.isLikely(bytes) {
        throw CommandError(
          "\(title(of: path)) is CSV, not JSON",
          hint: "import accounts with: regentctl account import PROVIDER \(shellQuoted(path))")
      }
      let value = try JSONValue(reading: bytes, limits: JSONLimits(bytes: 64 << 20))
      guard value.object != nil else {
        throw CommandError(
          "\(title(of: path)) must hold one JSON object, as regentctl export writes it",
          hint: "compare the file with the output of regentctl export")
      }
      return try ProvisioningFile(value: value, named: path)
    } catch let error as JSONError {
      throw CommandError(
        "\(title(of: path)) is \(error)", hint: "find the mistake: python3 -m json.tool \(shellQuoted(path))")
    } catch let error as JSONShapeError {
      throw CommandError("\(title(of: path)): \(error)", hint: "compare the file with the output of regentctl export")
    }
  }
}

/// The name of the file in messages.
private func title(of path: String) -> String { path == "-" ? "standard input" : path }

/// Reads a whole file, link or pipe; `-` is standard input.
func wholeFile(_ path: String, limit: Int) throws -> [UInt8] {
  let file: FileDescriptor
  do throws(SystemError) {
    file =
      try path == "-"
      ? FileDescriptor(owning: systemCall("read", on: title(of: path)) { dup(0) })
      : FileDescriptor.open(path, O_RDONLY | O_NOCTTY)
  } catch {
    throw CommandError(error.description, hint: "check the path: ls -l \(shellQuoted(path))")
  }
  var bytes: [UInt8] = []
  while bytes.count <= limit {
    let part: [UInt8]
    do throws(SystemError) {
      part = try file.read(atMost: 1 << 16, from: title(of: path))
    } catch {
      throw CommandError(error.description, hint: "check that this is the file you meant")
    }
    if part.isEmpty { return bytes }
    bytes += part
  }
  throw CommandError(
    "\(title(of: path)) is larger than the \(limit) bytes allowed",
    hint: "check that this is the file you meant")
}

/// Reads a file with one record per line.
private final class JSONLines {
  private let bytes: [UInt8]
  private var rest: Range<Int>
  private var number = 0

  /// - Parameter bytes: the file; the result is nil if the first line is not a record, because the file is then one
  ///   document.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    rest = bytes.indices
    guard let first = try? next()?.object, ProvisioningFile.isLine(first) else { return nil }
    rest = bytes.indices
    number = 0
  }

  /// The next line of the file that is not empty, as a record with the line's number.
  func next() throws -> (number: Int, object: JSONObject)? {
    while !rest.isEmpty {
      number += 1
      let end = bytes[rest].firstIndex(of: UInt8(ascii: "\n")) ?? rest.upperBound
      let line = bytes[rest.lowerBound..<end]
      rest = min(end + 1, rest.upperBound)..<rest.upperBound
      guard line.contains(where: { $0 > 0x20 }) else { continue }
      do throws(JSONError) {
        if let object = try JSONValue(reading: Array(line)).object { return (number, object) }
      } catch {
        throw JSONShapeError(name: "line \(number)", expected: "JSON, and is \(error)")
      }
      throw JSONShapeError(name: "line \(number)", expected: "an object")
    }
    return nil
  }
}

extension Invocation {
  /// Prints one step: as lines for people, or as one JSON line with `--lines`; without `--lines` the JSON is printed at
  /// the end.
  fileprivate func show(_ step: Plan.Step) {
    if !wantsJSON {
      console.print(lines: step.lines)
    } else if self[ProvisioningVerbs.asLines] {
      console.print(json: .object(step.object))
    }
  }

  /// Prints the plan as a JSON document, or the number of changes.
  fileprivate func sum(_ plan: Plan, _ verb: String) {
    if self[ProvisioningVerbs.asLines] { return }
    var lines = ["\(verb): \(plan.steps.count), unchanged: \(plan.unchanged)"]
    if let summary = plan.summary { lines.append(summary) }
    show(.array(plan.steps.map { .object($0.object) }), lines: lines)
  }
}
