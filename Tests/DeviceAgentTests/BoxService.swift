import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPairing
import PairingService
import PairingStore
import ServiceTestSupport
import TestSupport
/// A real service on a real socket, for boxes that are programs of their own.
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

  /// Whether the box took a code back, or got another one.
  func isWithdrawn(_ code: String) throws -> Bool {
    let id = try service.found(code)
    return service.core.codes.find(id)?.flow.state.status == .withdrawn
  }

  /// The service gives a code up before its time, as for a later one of the same box.
  func withdraw(_ code: String) async throws {
    _ = try await service.core.codeTransitions.withdraw(try service.found(code), .newerCode, audit: nil)
  }

  /// A rule of the provider about everybody.
  func entitle(_ pattern: String, _ effect: EntitlementEffect) async throws {
    guard let pattern = ResourcePattern(pattern) else { throw TestSupportError("not a pattern") }
    let rule = Entitlement(
      id: try named("a-rule"), provider: try named(Sample.provider), scope: .everybody,
      pattern: pattern, effect: effect)
    _ = try await service.core.store.put(
      .entitlement(rule), replacing: nil, audit: nil, at: service.core.clock.now)
    try await service.core.refreshProvisioning()
  }

  /// The key that boxes begin with counts no more.
  func revokeFirstKey() async throws {
    _ = try await service.core.store.setState(
      of: try named(Sample.publicKey), to: .revoked, audit: nil, at: service.core.clock.now)
    try await service.core.refreshProvisioning()
  }

  /// What the phone calls the box that shows the code.
  func nameOfBox(showing code: String) throws -> String? {
    service.core.codes.find(try service.found(code))?.about.name
  }

  /// A phone opens the code; the number that the screen must show then, with number matching.
  func open(_ code: String) async throws -> Int? {
    let id = try service.found(code)
    _ = try await service.core.codeTransitions.open(id)
    return service.core.codes.find(id)?.flow.match?.number
  }
}

/// A box: its own state, its own settings.
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

  /// Starts `regent` beside the test; what it prints is in `out` and `err` of the folder.
  func start(_ arguments: [String], output: String = "out") throws -> RunningProgram {
    try RunningProgram(
      try builtProgram("regent"), arguments, environment: environment,
      standardOutput: "\(folder)/\(output)", standardError: "\(folder)/\(output).err")
  }

  /// What a started program has printed so far.
  func printed(_ output: String = "out") -> String {
    String(decoding: (try? readFile("\(folder)/\(output)")) ?? [], as: UTF8.self)
  }

  /// The events that it has printed so far.
  func events(_ output: String = "out") throws -> [JSONObject] {
    try printed(output).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      guard let object = try JSONValue(reading: Array($0.utf8)).object else {
        throw TestSupportError("not an event: \($0)")
      }
      return object
    }
  }

  /// Waits for an event of that name.
  func event(_ name: String, after count: Int = 0, in output: String = "out") async throws
    -> JSONObject
  {
    try await eventually("the event \(name)") {
      try events(output).dropFirst(count).first { $0["event"]?.string == name }
    }
  }

  /// Waits until a daemon that was started takes calls.
  func daemonListens(output: String = "daemon") async throws {
    try await eventually("the socket") { printed("\(output).err").contains("listening on") }
  }

  /// Waits for the code of `pair --json`, which is on disk by then and outlives a kill.
  func keptCode() async throws -> String {
    guard let wire = try await event("code")["code"]?.string else {
      throw TestSupportError("the event has no code")
    }
    guard try keeps(wire) else { throw TestSupportError("the code \(wire) was shown before it was on disk") }
    return wire
  }

  /// Whether its token store has that text on disk.
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
  /// Runs a line of shell in the box's folder, with the built programs at hand.
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

/// What a program left behind.
struct Finished {
  let status: Int32
  let output: [UInt8]
  let errorText: String
  var outputText: String { String(decoding: output, as: UTF8.self) }
}
