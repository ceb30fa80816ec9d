import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPairing
import PairingService
import PairingStore
import ServiceTestSupport
import TestSupport
/// A real service on a real socket, for boxes that run as separate programs.
final class BoxService: Sendable {
  let service: TestService
  let port: UInt16
  private let server: Server

  init(
    port: UInt16? = nil, publicURL: String? = nil, _ change: (inout Requestor) -> Void = { _ in }
  ) async throws {
    let port = try port ?? freePort()
    self.port = port
    service = try await TestService(
      usesMachineClock: true, options: { $0.publicURL = publicURL ?? "http://127.0.0.1:\(port)" },
      change)
    server = try Self.serve(service, port)
  }

  private static func serve(_ service: TestService, _ port: UInt16) throws -> Server {
    var configuration = ServerConfiguration()
    configuration.loops = 1
    return try Server(
      [Listener(.network(.loopback, port: port), handler: try service.router())],
      configuration: configuration)
  }

  var url: String { "http://127.0.0.1:\(port)" }

  func stop() { server.stop(within: .milliseconds(100)) }

  /// Whether the code was withdrawn by the box or replaced by another one.
  func isWithdrawn(_ code: String) throws -> Bool {
    let id = try service.found(code)
    return service.core.codes.find(id)?.flow.state.status == .withdrawn
  }

  /// Withdraws a code at the service, as when the same box asks for another one.
  func withdraw(_ code: String) async throws {
    _ = try await service.core.codeTransitions.withdraw(try service.found(code), .newerCode, audit: nil)
  }

  /// Adds a rule for every viewer of the sample provider.
  func entitle(_ pattern: String, _ effect: EntitlementEffect) async throws {
    guard let pattern = ResourcePattern(pattern) else { throw TestSupportError("not a pattern") }
    let rule = Entitlement(
      id: try named("a-rule"), provider: try named(Sample.provider), scope: .everybody,
      pattern: pattern, effect: effect)
    _ = try await service.core.store.put(
      .entitlement(rule), replacing: nil, audit: nil, at: service.core.clock.now)
    try await service.core.refreshProvisioning()
  }

  /// Revokes the key pair that boxes are configured with.
  func revokeFirstKey() async throws {
    _ = try await service.core.store.setState(
      of: try named(Sample.publicKey), to: .revoked, audit: nil, at: service.core.clock.now)
    try await service.core.refreshProvisioning()
  }

  /// The name that the phone shows for the box.
  func nameOfBox(showing code: String) throws -> String? {
    service.core.codes.find(try service.found(code))?.about.name
  }

  /// Opens the code on a phone, and returns the number to match, if any.
  func open(_ code: String) async throws -> Int? {
    let id = try service.found(code)
    _ = try await service.core.codeTransitions.open(id)
    return service.core.codes.find(id)?.flow.match?.number
  }
}

/// A box with its own state and settings.
struct Box {
  let folder: String
  let environment: [String: String]

  init(_ folder: String, _ service: String, more: [String: String] = [:]) throws {
    self.folder = folder
    try writeFile("\(folder)/secret", Sample.secret.utf8)
    environment = [
      "PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "REGENT_SERVICE": service,
      "REGENT_REQUESTOR": Sample.requestor, "REGENT_PUBLIC_KEY": Sample.publicKey,
      "REGENT_SECRET_FILE": "\(folder)/secret", "REGENT_STATE": "\(folder)/state",
      "XDG_RUNTIME_DIR": folder,
    ].merging(more) { $1 }
  }

  /// Starts `regent`; its output goes to the files `output` and `output.err` in the folder.
  func start(_ arguments: [String], output: String = "out") throws -> RunningProgram {
    try RunningProgram(
      try builtProgram("regent"), arguments, environment: environment,
      standardOutput: "\(folder)/\(output)", standardError: "\(folder)/\(output).err")
  }

  /// The output of a started program so far.
  func printed(_ output: String = "out") -> String {
    String(decoding: (try? readFile("\(folder)/\(output)")) ?? [], as: UTF8.self)
  }

  /// The events that a started program has printed so far.
  func events(_ output: String = "out") throws -> [JSONObject] {
    try printed(output).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      guard let object = try JSONValue(reading: Array($0.utf8)).object else {
        throw TestSupportError("not an event: \($0)")
      }
      return object
    }
  }

  /// Waits for the event with this name, after the first `count` events.
  func event(_ name: String, after count: Int = 0, in output: String = "out") async throws
    -> JSONObject
  {
    try await eventually("the event \(name)") {
      try events(output).dropFirst(count).first { $0["event"]?.string == name }
    }
  }

  /// Waits until a started daemon accepts calls.
  func daemonListens(output: String = "daemon") async throws {
    try await eventually("the socket") { printed("\(output).err").contains("listening on") }
  }

  /// Waits for the code of `pair --json` and checks that it is on disk, so that it survives a kill.
  func keptCode() async throws -> String {
    guard let wire = try await event("code")["code"]?.string else {
      throw TestSupportError("the event has no code")
    }
    guard try keeps(wire) else { throw TestSupportError("the code \(wire) was shown before it was on disk") }
    return wire
  }

  /// Whether the token store on disk contains this text.
  func keeps(_ text: String) throws -> Bool {
    let bytes = (try? readFile("\(folder)/state/tokens")) ?? []
    return String(decoding: bytes, as: UTF8.self).contains(text)
  }

  /// Runs `regent` to its end without blocking a thread of the concurrency pool.
  func run(_ arguments: [String], output: String = "once") async throws -> Finished {
    _ = try? writeFile("\(folder)/\(output)", [])
    _ = try? writeFile("\(folder)/\(output).err", [])
    let program = try start(arguments, output: output)
    let status = try await eventually("the end of \(arguments)") { program.poll() }
    return Finished(
      status: status, output: try readFile("\(folder)/\(output)"),
      errorText: printed("\(output).err"))
  }
}

extension Box {
  /// Runs a shell script in the box's folder, with the built programs in PATH.
  func shell(_ script: String) async throws -> Finished {
    for name in ["shell", "shell.err"] { try writeFile("\(folder)/\(name)", []) }
    let program = try RunningProgram(
      "sh", ["-c", "cd \"$HOME\" && \(script)"],
      environment: environment.merging(["PATH": "\(try productsFolder()):/usr/bin:/bin"]) { $1 },
      standardOutput: "\(folder)/shell", standardError: "\(folder)/shell.err")
    let status = try await eventually("the end of \(script)") { program.poll() }
    return Finished(
      status: status, output: try readFile("\(folder)/shell"), errorText: printed("shell.err"))
  }
}

/// The exit status and output of a finished program.
struct Finished {
  let status: Int32
  let output: [UInt8]
  let errorText: String
  var outputText: String { String(decoding: output, as: UTF8.self) }
}
