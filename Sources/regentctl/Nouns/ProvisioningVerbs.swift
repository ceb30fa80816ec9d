import Administration
import CommandKit
import Glibc
import JSON
import Pairing
import Platform

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
    call.console.draw(
      String(decoding: state.file.object.bytes(.pretty), as: UTF8.self) + "\n")
  }

  static let apply = verb(
    "apply", "make the service's records those of a file",
    details: """
      Adds what is missing and changes what is different; a member that the file leaves out gets its usual value. What \
      the file does not have stays, unless --prune is given. Accounts are added without a password. With --dry-run \
      nothing is changed and everything is shown: + is added, ~ is changed, - is removed.
      """,
    inputs: [file, dryRun, prune, yes], example: "apply regent.json --dry-run"
  ) { call, admin in
    let wanted = try read(call[file])
    var plan = Plan(from: try await ProvisioningState(admin), to: wanted)
    if !call[prune] { plan.dropRemovals() }
    if call[dryRun] {
      call.show(plan, "would be changed")
      return
    }
    let removals = plan.steps.count(where: \.isLoss)
    if removals > 0 {
      try Prompt.confirm("remove \(counted(removals, "record"))", unless: yes, call)
    }
    for step in plan.steps { try await step.perform(admin) }
    call.show(plan, "changed")
  }

  private static let file = Input.argument("FILE", .file, "what regentctl export printed")
  private static let dryRun = Input.flag("dry-run", "show what would be done and do nothing")
  private static let prune = Input.flag("prune", "remove what the file does not have")

  private static func read(_ path: String) throws -> ProvisioningFile {
    let bytes = try wholeFile(path, limit: 64 << 20)
    do {
      let value = try JSONValue(reading: bytes, limits: JSONLimits(bytes: 64 << 20))
      return try ProvisioningFile(value: value, named: path)
    } catch let error as JSONError {
      throw CommandError("\(path) is \(error)", hint: "look at it: python3 -m json.tool \(path)")
    } catch let error as JSONShapeError {
      throw CommandError("\(path): \(error)", hint: "compare with regentctl export")
    }
  }
}

/// The content of a file that people name, be it a link or a pipe.
func wholeFile(_ path: String, limit: Int) throws -> [UInt8] {
  let file: FileDescriptor
  do throws(SystemError) {
    file = try FileDescriptor.open(path, O_RDONLY | O_NOCTTY)
  } catch {
    throw CommandError(error.description, hint: "check the path: \(path)")
  }
  var bytes: [UInt8] = []
  while bytes.count <= limit {
    let part = try file.read(atMost: 1 << 16, from: path)
    if part.isEmpty { return bytes }
    bytes += part
  }
  throw CommandError("\(path) is larger than the \(limit) bytes allowed")
}

extension Invocation {
  fileprivate func show(_ plan: Plan, _ verb: String) {
    if wantsJSON {
      console.print(json: .array(plan.steps.map { .object($0.object) }))
      return
    }
    for step in plan.steps { console.print(lines: step.lines) }
    console.print(
      "\(verb): \(plan.steps.count), as wanted already: \(plan.unchanged)")
  }
}
