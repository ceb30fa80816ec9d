// RegentdTestSupport: the program `regentd` as an operator runs it, for tests that need the real process. It has a
// database in a folder and is provisioned through its admin socket. For a service in the test's own process with a
// clock that the test sets, use ServiceTestSupport. Only the test targets import `Testing`.
package import Administration
import Glibc
import RegentHTTPClient
package import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport

/// A running `regentd` with the sample providers and the sample account; it is killed on deinit.
///
/// Its methods do not block threads of the concurrency pool.
package actor Regentd {
  /// The URL for boxes and phones.
  package nonisolated let url: String
  package nonisolated let admin: AdminClient
  /// The path of the admin socket, for `regentctl`.
  package nonisolated let adminSocket: String
  private let binary: String
  private let folder: String
  private let options: [String]
  /// A port that the kernel does not give to outgoing connections, so that the service can be restarted on it.
  package nonisolated let port: UInt16
  private var program: RunningProgram

  /// The sample's usual password is too short for the service's rules.
  package static let password = "correct-horse-battery"

  /// Starts the program with the usual options and `options`; its files are in `folder`.
  package init(_ binary: String, in folder: String, _ options: [String] = []) async throws {
    self.binary = binary
    self.folder = folder
    self.options = options
    port = try freePort()
    url = "http://127.0.0.1:\(port)"
    program = try await Self.start(binary, folder, port, options)
    adminSocket = "\(folder)/admin.sock"
    admin = AdminClient(
      socket: adminSocket, client: Client(ClientConfiguration(wallClock: Clocks.wallMilliseconds)))
    try await provision()
  }

  private static func start(
    _ binary: String, _ folder: String, _ port: UInt16, _ options: [String]
  ) async throws -> RunningProgram {
    try await RegentdProcess.start(
      binary, in: folder, listen: "127.0.0.1:\(port)",
      [
        "--public-url", "https://tv.example.org",
        "--database", "\(folder)/regent.db", "--master-key", "\(folder)/master-key",
        "--admin-socket", "\(folder)/admin.sock", "--web", "\(packageFolder())/web",
      ] + options,
      environment: ["HOME": folder, "PATH": "/usr/bin:/bin"]
    ).program
  }

  /// Kills the program with SIGKILL, as in a crash.
  package func kill() async throws {
    program.signal(SIGKILL)
    try await eventually("the end of regentd") { program.poll() }
  }

  /// Starts the program again with the same port and files.
  package func startAgain() async throws {
    program = try await Self.start(binary, folder, port, options)
  }
}

// MARK: - What operators and viewers do

extension Regentd {
  private func provision() async throws {
    let tenMinutes = TemporaryPassRules(duration: .seconds(600))
    let twoTitles = TemporaryPassRules(
      duration: .seconds(3600), resourceLimit: 2, promotional: true)
    for provider in [
      Provider(id: try named(Sample.provider), name: "Sample TV", kind: .local, featured: true),
      Provider(id: try named(Sample.pass), name: "Ten minutes", kind: .temporary(tenMinutes)),
      Provider(id: try named(Sample.promotion), name: "Two titles", kind: .temporary(twoTitles)),
    ] { _ = try await admin.add(provider.id, Patch(provider)) }
    let account = Account(
      provider: try named(Sample.provider), name: try named(Sample.account),
      household: try named("house-1"),
      attributes: AccountAttributes(
        zipCodes: ["12345"],
        maximumRatings: [ParentalRating(scheme: .mpaa, value: "PG-13")],
        channels: ["news", "sports"]))
    _ = try await admin.add(
      account.provider, account.name, Patch(account), password: Self.password)
  }

  /// Adds a requestor with all sample providers and issues a key pair for its calls.
  package nonisolated func add(_ requestor: Requestor) async throws -> IssuedKey {
    _ = try await admin.add(requestor.id, Patch(requestor))
    for provider in [Sample.provider, Sample.pass, Sample.promotion] {
      let provider: ProviderID = try named(provider)
      _ = try await admin.integrate(requestor.id, provider, Patch())
    }
    return try await admin.issueKey(to: requestor.id)
  }

  /// Approves a code for the sample account.
  package nonisolated func approve(
    _ code: String, at provider: String = Sample.provider
  ) async throws {
    _ = try await admin.approve(
      code, for: CodeApproval(provider: try named(provider), account: try named(Sample.account)))
  }
}
