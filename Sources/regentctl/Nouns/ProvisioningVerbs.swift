import Administration
import CommandKit
import Glibc
import RegentJSON
import RegentPairing
import RegentPlatform

/// `regentctl export` and `regentctl apply`.
enum ProvisioningVerbs {
  static let export = verb(
    "export", "print everything that operators made as one JSON document",
    details: """
      Requestors, providers, integrations, accounts without passwords, rules: what regentctl apply takes, and what can \
      be kept in a repository. Keys and passwords are not in it; a backup has those. With --lines each record is a \
      document on a line of its own.
      """,
    inputs: [asLines], example: "export > regent.json"
  ) { call, admin in
    let state = try await ProvisioningState(admin)
    if call[asLines] {
      for line in state.file.lines { call.console.print(json: .object(line)) }
      return
    }
    // Names may come from anywhere, and this may be a terminal.
    call.console.draw(harmlessJSON(.object(state.file.object), isPretty: true) + "\n")
  }

  static let apply = verb(
    "apply", "make the service's records those of a file",
    details: """
      Adds what is missing and changes what is different; a member that the file leaves out gets its usual value. What \
      the file does not have stays, unless --prune is given; a section that the file leaves out stays even then. With --dry-run nothing is changed and everything is shown: \
      + is added, ~ is changed, - is removed. A file called - is standard input. A file may also have a record on each \
      line: {"account":{"provider":"cable","name":"anna"}}.

      An account is added without a password, or with its member passwordHash as another program made it: argon2id \
      ($argon2id$v=19$…), bcrypt ($2b$12$…), PBKDF2 with SHA-256 or SHA-512 ($pbkdf2-sha256$…, pbkdf2_sha256$…). It is \
      hashed anew when it is first typed. A password that an account has already stays. Accounts are written by the \
      hundred, each batch as a whole or not at all; after a failure apply the file again, and it goes on where it stopped.
      """,
    inputs: [file, dryRun, prune, yes, asLines], example: "apply regent.json --dry-run"
  ) { call, admin in
    if call[asLines], !call.wantsJSON {
      throw CommandError.usage("--lines is for programs", hint: "add --json")
    }
    let wanted = try read(call[file])
    let state = try await call.console.progress("reading what the service has") {
      try await ProvisioningState(admin)
    }
    try wanted.checkNames(beside: state.file, prunes: call[prune], in: title(of: call[file]))
    if call[prune] { try wanted.checkPruning(beside: state.file, in: title(of: call[file])) }
    if !call.wantsJSON { wanted.noteEmptyHouseholds(beside: state.file, prunes: call[prune], call.console) }
    let found = try await call.console.progress("looking at the hashes of passwords") {
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
      let (after, found) = try await call.console.progress("looking again") {
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
    "FILE", .file, "what regentctl export printed; - is standard input")
  private static let dryRun = Input.flag("dry-run", "show what would be done and do nothing")
  private static let prune = Input.flag("prune", "remove what the sections of the file do not have")

  fileprivate static let asLines = Input.flag(
    "lines", "a document a line; for apply with --json: a line for each change")

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
          hint: "compare with regentctl export")
      }
      return try ProvisioningFile(value: value, named: path)
    } catch let error as JSONError {
      throw CommandError(
        "\(title(of: path)) is \(error)", hint: "look at it: python3 -m json.tool \(path)")
    } catch let error as JSONShapeError {
      throw CommandError("\(title(of: path)): \(error)", hint: "compare with regentctl export")
    }
  }
}

/// How messages call a file that people name.
private func title(of path: String) -> String { path == "-" ? "standard input" : path }

/// The content of a file that people name, be it a link or a pipe; `-` is standard input.
func wholeFile(_ path: String, limit: Int) throws -> [UInt8] {
  let file: FileDescriptor
  do throws(SystemError) {
    file =
      try path == "-"
      ? FileDescriptor(owning: systemCall("read", on: title(of: path)) { dup(0) })
      : FileDescriptor.open(path, O_RDONLY | O_NOCTTY)
  } catch {
    throw CommandError(error.description, hint: "check the path: \(path)")
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

/// The lines of a file with a record on each.
private final class JSONLines {
  private let bytes: [UInt8]
  private var rest: Range<Int>
  private var number = 0

  /// - Parameter bytes: a file; nil when its first line is no record, and the file is one document.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    rest = bytes.indices
    guard let first = try? next()?.object, ProvisioningFile.isLine(first) else { return nil }
    rest = bytes.indices
    number = 0
  }

  /// The next line that is not empty.
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
  /// A step: as lines for people, as a line for programs that want one for each, else at the end.
  fileprivate func show(_ step: Plan.Step) {
    if !wantsJSON {
      console.print(lines: step.lines)
    } else if self[ProvisioningVerbs.asLines] {
      console.print(json: .object(step.object))
    }
  }

  /// The plan as a document, or how many records it is about.
  fileprivate func sum(_ plan: Plan, _ verb: String) {
    if self[ProvisioningVerbs.asLines] { return }
    var lines = ["\(verb): \(plan.steps.count), as wanted already: \(plan.unchanged)"]
    if let summary = plan.summary { lines.append(summary) }
    show(.array(plan.steps.map { .object($0.object) }), lines: lines)
  }
}
