internal import Administration
internal import RegentCryptography
internal import Glibc
internal import RegentHTTPClient
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import RegentPairingWire
internal import RegentPlatform
internal import TestSupport

/// A real `regentd`.
///
/// Its folder stays when the process ends.
struct LiveService {
  let url: String
  let admin: AdminClient
  private let process: RegentdProcess
  private let folder: String

  /// Starts it and blocks until it is ready.
  init(in folder: String) throws {
    self.folder = folder
    process = try RegentdProcess(
      try neighbour("regentd"), in: folder,
      [
        "--web", "\(packageFolder())/web", "--database",
        "\(folder)/regent.db", "--master-key", "\(folder)/master-key", "--admin-socket",
        "\(folder)/admin.sock", "--live-codes", "10000000", "--newcomer-rate",
        "100000", "--sign-ins-per-account", "1000000",
      ])
    url = process.url
    admin = AdminClient(
      socket: "\(folder)/admin.sock",
      client: Client(ClientConfiguration(wallClock: Clocks.wallMilliseconds)))
  }

  func kill() { try? process.kill() }

  /// Ends it with SIGTERM.
  ///
  /// Afterwards the database holds everything and its log file is empty.
  func stop() throws { try process.stop() }

  /// Runs `regentctl`, without blocking a thread of the concurrency pool.
  func control(_ words: [String], input: String = "") async throws {
    let program = try neighbour("regentctl")
    let socket = "\(folder)/admin.sock"
    let outcome = try await awaitingCallback("the end of regentctl", within: 360) { callback in
      try DedicatedThread.start(named: "regentctl") {
        callback(
          Result {
            try TestSupport.run(
              program, ["--socket", socket] + words, input: Array(input.utf8), deadline: 300)
          })
      }
    }
    let ended = try outcome.get()
    guard ended.status == 0 else { throw TestSupportError("regentctl: \(ended.errorText)") }
  }

  /// Adds a requestor with a key pair, and a provider with a viewer.
  func provision() async throws -> Caller {
    try await control(["requestor", "add", "REF30", "--name", "Reference"])
    try await control(["provider", "add", "local", "--name", "Local", "--kind", "local"])
    try await control(["integrate", "REF30", "local"])
    try await control(["account", "add", "local", "demo"], input: "a long enough word\n")
    let requestor: RequestorID = try named("REF30")
    let pair = try await admin.issueKey(to: requestor)
    return Caller(
      requestor: requestor, publicKey: pair.publicKey,
      key: try HMACKey(.sha256, Secret(pair.secret)))
  }
}

/// The identity that signs calls; it outlives a restart of the service at another address.
struct Caller: Sendable {
  let requestor: RequestorID
  let publicKey: PublicKey
  let key: HMACKey

  func at(_ service: LiveService) -> Calls {
    Calls(
      caller: self, url: service.url, admin: service.admin,
      client: Client(ClientConfiguration(wallClock: Clocks.wallMilliseconds)))
  }
}

struct Calls: Sendable {
  let caller: Caller
  let url: String
  let admin: AdminClient
  let client: Client

  /// Sends a signed call; throws `ClientError` when there is no response.
  func send(_ method: Method, _ path: String, _ query: String = "") async throws -> ClientResponse {
    var request = ClientRequest(method, try ClientURL(url + path + query))
    // POST requests have no body: their parameters are in the query.
    let text = SignedHeader.textToSign(
      method: method.token, requestor: caller.requestor, nonce: Random.uuid(),
      signatureMethod: .hmacSHA256, requestTime: Instant(milliseconds: Clocks.wallMilliseconds()),
      requestURI: path)
    request.addHeader(
      .authorization,
      SignedHeader.header(
        textToSign: text, publicKey: caller.publicKey, signature: caller.key.code(text)))
    return try await client.send(request)
  }

  /// Polls for a box: nil while it waits, otherwise the document of its sign-in.
  func poll(_ device: String) async throws -> String? {
    let answer = try await send(.get, "/api/v1/tokens/authn.json", "?deviceId=\(device)")
    switch answer.status {
    case .ok: return String(decoding: answer.body, as: UTF8.self)
    case .notFound: return nil
    default: throw Surprise(description: "poll: \(answer.status)")
    }
  }

  /// The state in the record of a code.
  func state(_ code: String) async throws -> String {
    let answer = try await send(.get, "/reggie/v1/REF30/regcode/\(code).json")
    guard answer.status == .ok, let record = try JSONValue(reading: answer.body).object else {
      throw Surprise(description: "record: \(answer.status)")
    }
    return try record.string("state")
  }

  /// - Throws: `AdminError`, with the code `refused` when the code was approved before.
  func approve(_ code: String) async throws {
    _ = try await admin.approve(
      code, for: CodeApproval(provider: try named("local"), account: try named("demo")))
  }
}

/// An error: the service gave an answer that it must never give.
struct Surprise: Error, CustomStringConvertible {
  let description: String
}

func named<Kind>(_ text: String) throws -> Identifier<Kind> {
  guard let name = Identifier<Kind>(text) else { throw TestSupportError("not a name: \(text)") }
  return name
}

/// The path of a program in the same folder as this one.
func neighbour(_ name: String) throws -> String {
  guard let found = unsafe realpath("/proc/self/exe", nil) else {
    throw TestSupportError("/proc/self/exe cannot be resolved")
  }
  defer { unsafe free(found) }
  let own = unsafe String(cString: found)
  return own.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    .joined(separator: "/") + "/\(name)"
}
