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
      be kept in a repository. Keys and passwords are not in it; a backup has those.
      """,
    example: "export > regent.json"
  ) { call, admin in
    let state = try await ProvisioningState(admin)
    // Names may come from anywhere, and this may be a terminal.
    call.console.draw(harmlessJSON(.object(state.file.object), isPretty: true) + "\n")
  }

  static let apply = verb(
    "apply", "make the service's records those of a file",
    details: """
      Adds what is missing and changes what is different; a member that the file leaves out gets its usual value. What \
      the file does not have stays, unless --prune is given. Accounts are added without a password. With --dry-run \
      nothing is changed and everything is shown: + is added, ~ is changed, - is removed. A file called - is standard \
      input.
      """,
    inputs: [file, dryRun, prune, yes], example: "apply regent.json --dry-run"
  ) { call, admin in
    let wanted = try read(call[file])
    let state = try await call.console.progress("reading what the service has") {
      try await ProvisioningState(admin)
    }
    try wanted.checkNames(beside: state.file, prunes: call[prune], in: title(of: call[file]))
    let plan = makePlan(from: state, to: wanted, call)
    if call[dryRun] {
      if !call.wantsJSON { for step in plan.steps { call.console.print(lines: step.lines) } }
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
        if !call.wantsJSON { call.console.print(lines: step.lines) }
        progress.step()
      }
    }
    if !plan.steps.isEmpty {
      let after = try await call.console.progress("looking again") { try await ProvisioningState(admin) }
      try makePlan(from: after, to: wanted, call)
        .refuseRest(call[file])
    }
    call.sum(plan, "changed")
  }

  private static func makePlan(
    from state: ProvisioningState, to wanted: ProvisioningFile, _ call: Invocation
  ) -> Plan {
    var plan = Plan(from: state, to: wanted)
    if !call[prune] { plan.dropRemovals() }
    return plan
  }

  private static let file = Input.argument(
    "FILE", .file, "what regentctl export printed; - is standard input")
  private static let dryRun = Input.flag("dry-run", "show what would be done and do nothing")
  private static let prune = Input.flag("prune", "remove what the file does not have")

  private static func read(_ path: String) throws -> ProvisioningFile {
    let bytes = try wholeFile(path, limit: 64 << 20)
    do {
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
private func wholeFile(_ path: String, limit: Int) throws -> [UInt8] {
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

extension Invocation {
  /// The plan as a document, or how many records it is about.
  fileprivate func sum(_ plan: Plan, _ verb: String) {
    var lines = ["\(verb): \(plan.steps.count), as wanted already: \(plan.unchanged)"]
    if let summary = plan.summary { lines.append(summary) }
    show(.array(plan.steps.map { .object($0.object) }), lines: lines)
  }
}
