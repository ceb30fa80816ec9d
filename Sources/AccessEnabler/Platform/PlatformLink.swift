import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPlatform

/// The connection to the box's daemon: HTTP with JSON over a Unix socket; see `docs/socket.md`.
///
/// The kernel reports the user of the listening process. Only root, this process's own user and the agent's user are
/// trusted. Another program that puts a socket in the daemon's place receives nothing.
final class PlatformLink: Sendable {
  /// How long the daemon may hold the request for progress of the box's sign-in, in seconds.
  static let hold: Int64 = 25
  /// The name of the user as whom a standard installation runs the agent.
  private static let usualUser = "regent"
  private static let answerLimit = 262_144

  private let places: [String]
  private let client: Client

  /// Returns nil for `.none`: the app is configured not to use the box's shared account.
  init?(_ place: PlatformAccountPlace, _ environment: [String: String] = ProcessEnvironment.all()) {
    var agentUser: String?
    switch place {
    case .none: return nil
    case .socket(let path, let user):
      places = [path]
      agentUser = user
    case .usual: places = Self.usualPlaces(environment)
    }
    var settings = ClientConfiguration(wallClock: { Clocks.wallMilliseconds() })
    settings.trustsListener = { [agentUser] who, path in
      if who.user == 0 || who.user == Accounts.effectiveUser { return true }
      let agent = Self.agent(named: agentUser, folderOwner: SocketPlace.owner(ofFolderHolding: path)) { name in
        (try? Accounts.user(named: name))?.id
      }
      return who.user == agent
    }
    client = Client(settings)
  }

  /// The id of the agent's user, whose listener is trusted in addition to root and this process's own user.
  static func agent(named name: String?, folderOwner: UInt32?, _ id: (String) -> UInt32?) -> UInt32? {
    if let name { return id(name) }
    return folderOwner ?? id(usualUser)
  }

  /// The paths at which the daemon may listen, in order of preference.
  static func usualPlaces(_ environment: [String: String]) -> [String] {
    if let named = environment["REGENT_AGENT_SOCKET"], !named.isEmpty { return [named] }
    return SocketPlace.ofAgent(below: environment["XDG_RUNTIME_DIR"])
  }

  /// Whether a socket exists at one of the daemon's paths.
  var isThere: Bool { places.contains(where: SocketPlace.isThere) }

  func close() { client.close() }

  func answer(
    to question: PlatformQuestion, for requestor: String, within deadline: Duration
  ) async -> PlatformAnswer {
    var isThere = false
    var why = ""
    for place in places where SocketPlace.isThere(place) {
      isThere = true
      do throws(ClientError) {
        return try await ask(question, requestor, at: place, within: deadline)
      } catch {
        why = error.description
        // Try the next path only if the connection was refused, which means that the socket is left over. A daemon that
        // answers with an error is the right daemon.
        guard case .unreachable(.refused) = error.kind else { break }
      }
    }
    return isThere ? .silent(why) : .absent
  }

  private func ask(
    _ question: PlatformQuestion, _ requestor: String, at place: String, within deadline: Duration
  ) async throws(ClientError) -> PlatformAnswer {
    let (path, body) = question.call(requestor)
    var request = ClientRequest(
      .post, try ClientURL(unixSocket: place, target: "/v1/platform/\(path)"), body: JSONValue.object(body).bytes())
    request.deadline = deadline
    request.responseLimit = Self.answerLimit
    request.addHeader(.contentType, "application/json")
    if question.wait > 0 { request.addHeader(.prefer, "wait=\(question.wait)") }
    let response = try await client.send(request)
    return PlatformReader.answer(to: question, Int(response.status.rawValue), response.body)
  }
}

extension PlatformQuestion {
  /// How long the daemon waits for the viewer's answer, in seconds.
  fileprivate var wait: Int64 {
    switch self {
    case .access(_, let wait), .signOut(let wait): wait
    default: 0
    }
  }

  /// The path and JSON body of the request with which an app of `requestor` asks the daemon this question.
  fileprivate func call(_ requestor: String) -> (path: String, body: JSONObject) {
    var body: JSONObject = ["requestor": .string(requestor)]
    switch self {
    case .status: return ("status", body)
    case .access(let prompt, _):
      body["prompt"] = .bool(prompt)
      return ("access", body)
    case .signOut: return ("sign-out", body)
    case .assertion(let request, let provider):
      body["profileRequest"] = .string(request)
      body["provider"] = .string(provider)
      return ("account", body)
    case .picker: break
    case .signIn(let provider): body["provider"] = .string(provider)
    case .news(let id, let last):
      body["signIn"] = .string(id)
      body["after"] = .integer(Int64(last))
      body["wait"] = .integer(PlatformLink.hold * 1_000)
    case .leave(let id):
      body["signIn"] = .string(id)
      body["leave"] = true
    }
    return ("picker", body)
  }
}

/// Parses the daemon's responses.
///
/// A response in another format counts as no response.
enum PlatformReader {
  private static let limits = JSONLimits(depth: 8, bytes: 262_144)
  private static let unreadable = PlatformAnswer.silent("the daemon's answer cannot be read")

  static func answer(to question: PlatformQuestion, _ status: Int, _ body: [UInt8]) -> PlatformAnswer {
    guard let document = (try? JSONValue(reading: body, limits: limits))?.object else {
      return status == 503 ? .silent("the daemon is busy") : unreadable
    }
    guard status == 200 else { return refusal(status, document) }
    switch question {
    case .status, .access, .signOut: return self.status(document).map(PlatformAnswer.status) ?? unreadable
    case .assertion: return document["assertion"]?.string.map(PlatformAnswer.assertion) ?? unreadable
    case .picker:
      let ids = document["providers"]?.array?.compactMap { $0["id"]?.string }
      return ids.map(PlatformAnswer.picker) ?? unreadable
    case .signIn: return code(document) ?? news(document) ?? unreadable
    case .news: return news(document) ?? unreadable
    case .leave: return .news(PlatformNews(last: 0))
    }
  }

  private static func refusal(_ status: Int, _ document: JSONObject) -> PlatformAnswer {
    guard let error = document["error"]?.object, let code = error["code"]?.string else { return unreadable }
    let message = error["message"]?.string ?? code
    // An earlier version of the daemon does not know this call, so it has no account that apps can share.
    if status == 403 && code == "not-an-app" || status == 404 && code == "no-such-call" { return .absent }
    guard status == 422, let refusal = PlatformRefusal(rawValue: code) else { return .silent(message) }
    return .refused(refusal, message)
  }

  static func status(_ document: JSONObject) -> PlatformStatus? {
    guard let permission = document["permission"]?.string.flatMap(PlatformPermission.init),
      let isSignedIn = document["signedIn"]?.bool
    else { return nil }
    var status = PlatformStatus(
      permission: permission, isSignedIn: isSignedIn, provider: document["provider"]?.string,
      viewer: document["viewer"]?.string,
      expires: document["expires"]?.int64.map { Instant(milliseconds: $0) }, failure: document["failure"]?.string)
    status.refusal = document["refusal"]?.string
    return status
  }

  private static func code(_ document: JSONObject) -> PlatformAnswer? {
    guard let signIn = document["signIn"]?.string, let code = document["code"]?.object,
      let after = document["after"]?.int64.flatMap({ Int(exactly: $0) }),
      let text = code["code"]?.string, let url = code["address"]?.string, let expires = code["expires"]?.int64
    else { return nil }
    let offer = RegistrationOffer(
      code: text, display: code["display"]?.string ?? text, url: url, urlComplete: code["link"]?.string ?? url,
      expires: Instant(milliseconds: expires), provider: nil, service: "")
    return .code(signIn: signIn, after: after, offer)
  }

  private static func news(_ document: JSONObject) -> PlatformAnswer? {
    guard let last = document["last"]?.int64.flatMap({ Int(exactly: $0) }) else { return nil }
    return .news(
      PlatformNews(
        last: last, match: document["match"]?.int64.flatMap { Int(exactly: $0) },
        isOpened: document["opened"]?.bool ?? false,
        end: document["end"]?.string.flatMap(PlatformNews.End.init)))
  }
}
