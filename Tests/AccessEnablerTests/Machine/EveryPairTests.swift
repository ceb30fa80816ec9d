import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import AccessEnabler

/// Sends every event to a state machine in every phase and compares the result with `every-pair.txt`.
///
/// A change of the rules shows as a change of that file. To accept it, run the tests with REGENT_ACCEPT=1.
@Suite("State machine: every event in every phase")
struct EveryPairTests {
  @Test func `every pair of phase and event has the result that every-pair.txt records`() throws {
    let path = packageFolder() + "/Tests/AccessEnablerTests/Machine/every-pair.txt"
    var lines: [String] = []
    for (phase, bench) in Self.phases {
      #expect(Self.name(of: bench.machine.phase) == phase)
      for (event, happening) in Self.events {
        var bench = bench
        bench.forget()
        happening.happen(to: &bench)
        lines.append("\(phase) + \(event)\n    -> \(Self.summary(bench))")
      }
    }
    let text = lines.joined(separator: "\n") + "\n"
    if ProcessEnvironment.all()["REGENT_ACCEPT"] == "1" {
      try writeFile(path, text.utf8, mode: 0o644)
    }
    let known = try Self.byPair(String(decoding: try readFile(path), as: UTF8.self))
    let now = try Self.byPair(text)
    for pair in Set(known.keys).union(now.keys).sorted() where known[pair] != now[pair] {
      Issue.record("\(pair): was \(known[pair] ?? "not there"), is \(now[pair] ?? "not there")")
    }
  }

  /// The result of each pair of phase and event; a pair takes two lines of the file.
  private static func byPair(_ text: String) throws -> [String: String] {
    let lines = text.split(separator: "\n").map(String.init)
    let pairs = stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) }
    try #require(pairs.count * 2 == lines.count && Set(pairs.map(\.0)).count == pairs.count)
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  @Test func `every-pair.txt covers every phase of the state machine`() {
    let names = Set(Self.phases.map(\.0))
    #expect(
      names == [
        "unconfigured", "configuring", "synchronizing", "joining", "ready", "attaching", "presenting", "sharing",
        "choosing", "entering",
        "registering", "waiting", "browsing", "fetching", "signingOut", "leaving",
      ])
  }

  static func name(of phase: Phase) -> String {
    switch phase {
    case .unconfigured: "unconfigured"
    case .configuring: "configuring"
    case .synchronizing: "synchronizing"
    case .joining: "joining"
    case .ready: "ready"
    case .attaching: "attaching"
    case .presenting: "presenting"
    case .sharing: "sharing"
    case .choosing: "choosing"
    case .entering: "entering"
    case .registering: "registering"
    case .waiting: "waiting"
    case .browsing: "browsing"
    case .fetching: "fetching"
    case .signingOut: "signingOut"
    case .leaving: "leaving"
    }
  }

  // MARK: Phases and events

  static let phases: [(String, Bench)] = {
    var all: [(String, Bench)] = [("unconfigured", Bench())]
    func add(_ name: String, _ bench: Bench, _ steps: (inout Bench) -> Void) {
      var bench = bench
      steps(&bench)
      all.append((name, bench))
    }
    let browser: (inout MachineSettings) -> Void = {
      $0.login = .browser(redirectURL: "app://done")
    }
    add("configuring", Bench()) { $0.setRequestor() }
    add("synchronizing", Bench()) {
      $0.setRequestor()
      $0.answer(.configuration(Bench.configuration))
    }
    add("joining", Bench.platform()) { _ in }
    add("ready", Bench.ready()) { _ in }
    add("attaching", Bench.atPlatform()) { $0.call(.getAuthentication(AuthenticationRequest())) }
    add("presenting", Bench.presenting()) { _ in }
    add("sharing", Bench.presenting()) {
      $0.call(.answerTvProviderDialog(.provider("SPORTS")))
      $0.answer(.platform(.boxCode))
    }
    add("choosing", Bench.ready()) { $0.call(.getAuthentication(AuthenticationRequest())) }
    add("entering", Bench.ready()) {
      $0.call(.getAuthentication(AuthenticationRequest(choice: .provider("PASS"))))
    }
    add("registering", Bench.ready()) {
      $0.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    }
    add("waiting", Bench.waiting().bench) { _ in }
    add("browsing", Bench.ready(browser)) {
      $0.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
      $0.answer(.code(.offered))
    }
    add("fetching", Bench.waiting().bench) { $0.answer(.code(.record(.approved, 2))) }
    add("signingOut", Bench.signedIn()) { $0.call(.logout) }
    add("leaving", Bench.signedIn(browser)) {
      $0.call(.logout)
      $0.answer(.done)
    }
    return all
  }()

  /// One event of the table, and how it reaches the state machine.
  enum Happening: Sendable {
    case call(AppCall)
    case setRequestor(String)
    case event(MachineEvent)
    case answer(ServiceAnswer)

    func happen(to bench: inout Bench) {
      switch self {
      case .call(let call): bench.call(call)
      case .setRequestor("SPORT"): bench.setRequestor()
      case .setRequestor(let name): bench.setRequestor(name, tokens: RequestorTokens())
      case .event(let event): bench.send(event)
      case .answer(let answer): bench.answer(answer)
      }
    }
  }

  static let events: [(String, Happening)] = {
    var all = calls.map { ($0.0, Happening.call($0.1)) }
    all += [
      ("setRequestor same", .setRequestor("SPORT")), ("setRequestor other", .setRequestor("NEWS")),
      ("cancel 1", .event(.cancel(RequestID(number: 1)))),
      ("cancel 2", .event(.cancel(RequestID(number: 2)))),
      ("setOptions", .event(.setOptions(EnablerOptions(visitorID: "v")))),
      ("timer", .event(.timer(TimerID(number: 7_777)))),
      ("platform there", .event(.platform(isThere: true))), ("platform gone", .event(.platform(isThere: false))),
      ("tokens", .event(.tokens(RequestorTokens()))),
      ("news", .event(.news(EntitlementStatus(.clockWrong)))),
      ("stray answer", .event(.answered(CallID(number: 7_777), .granted))),
    ]
    all.append(("asked", .event(.asked(RequestID(number: 90), .checkAuthentication))))
    return all + answers.map { ("answer \($0.0)", .answer($0.1)) }
  }()

  static let calls: [(String, AppCall)] = [
    ("checkAuthentication", .checkAuthentication),
    ("getAuthentication", .getAuthentication(AuthenticationRequest())),
    (
      "getAuthentication with a provider",
      .getAuthentication(AuthenticationRequest(isForced: true, choice: .provider("CABLE")))
    ),
    ("setSelectedProvider", .setSelectedProvider("CABLE")),
    ("setSelectedProvider nil", .setSelectedProvider(nil)),
    ("selectOnSecondScreen", .selectOnSecondScreen), ("renewCode", .renewCode),
    ("answerTvProviderDialog provider", .answerTvProviderDialog(.provider("SPORTS"))),
    ("answerTvProviderDialog other", .answerTvProviderDialog(.other)),
    ("answerTvProviderDialog cancel", .answerTvProviderDialog(.cancel)),
    ("handleExternalURL", .handleExternalURL("app://done")),
    ("preauthorize", .preauthorize(["a"], usesCache: true)),
    ("checkAuthorization", .checkAuthorization("a", data: [:])),
    ("getAuthorization", .getAuthorization("a", data: [:])),
    ("getSelectedProvider", .getSelectedProvider),
    ("getMetadata", .getMetadata(.user("zip"), arguments: [:])), ("logout", .logout),
  ]

  static let answers: [(String, ServiceAnswer)] = [
    ("configuration", .configuration(Bench.configuration)), ("authentication", .granted),
    ("code offered", .code(.offered)), ("code opened", .code(.record(.opened, 2))),
    ("code offered at once", .code(.record(.offered, 1, wasHeld: false))),
    ("code opened at once", .code(.record(.opened, 2, wasHeld: false))),
    ("code approved", .code(.record(.approved, 2))), ("code denied", .code(.record(.denied, 2))),
    ("code expired", .code(.record(.expired, 2))),
    ("code withdrawn", .code(.record(.withdrawn, 2))),
    ("permit", .permit(PendingCallTests.permit)), ("mediaToken", .mediaToken(PendingCallTests.access)),
    ("preauthorized", .preauthorized([])), ("metadata", .metadata([:])), ("done", .done),
    ("away", .failed(.away)), ("400", .failed(.status(400))), ("401", .failed(.status(401))),
    ("403", .failed(.status(403))), ("403 denied", .failed(.status(403, details: "denied"))),
    ("404", .missing), ("410", .failed(.status(410))), ("412", .failed(.status(412))),
    ("429", .failed(.status(429))), ("500", .failed(.status(500))),
    ("unreadable", .failed(ServiceFailure(kind: .unreadable))),
    ("unsafe", .failed(ServiceFailure(kind: .unsafeConnection))),
    ("registration", .failed(ServiceFailure(kind: .registration))),
    ("accessToken", .failed(ServiceFailure(kind: .accessToken))),
    ("profile request", .profileRequest("cmVxdWVzdA==")), ("platform absent", .platform(.absent)),
    ("platform silent", .platform(.silent("it says nothing"))), ("platform word", .platform(.assertion("word"))),
    ("platform out", .platform(.status(PlatformStatus(permission: .granted, isSignedIn: false)))),
    ("platform in", .platform(.status(PlatformStatus(permission: .granted, isSignedIn: true, provider: "SPORTS")))),
    ("platform denied", .platform(.status(PlatformStatus(permission: .denied, isSignedIn: true)))),
    ("platform picker", .platform(.picker(["SPORTS"]))), ("platform code", .platform(.boxCode)),
    ("platform news", .platform(.news(PlatformNews(last: 2, isOpened: true)))),
    ("platform done", .platform(.news(PlatformNews(last: 3, end: .authenticated)))),
    ("platform refused", .platform(.refused(.account, "its file cannot be read"))),
  ]

  // MARK: The result of a pair

  static func summary(_ bench: Bench) -> String {
    let words = bench.actions.map { action in
      switch action {
      case .tell(let event, _): "tell \(word(event))"
      case .finish(let request, .failed(let error)): "finish \(request.number) \(first(error.kind))"
      case .finish(let request, let outcome): "finish \(request.number) \(first(outcome))"
      case .call(let call): "call \(first(call.operation))"
      case .cancelCall: "cancel call"
      case .startTimer(_, let pause): "timer \(pause)"
      case .startDeadline(_, let time): "deadline \(time)"
      case .stopTimer: "stop timer"
      case .store(let change, _): "store \(first(change))"
      case .openBrowser: "open browser"
      }
    }
    return ([name(of: bench.machine.phase)] + words).joined(separator: ", ")
  }

  private static func word(_ event: EntitlementEvent) -> String {
    switch event {
    case .status(let status): status.id.rawValue
    case .setAuthenticationStatus(let status, let code):
      "setAuthenticationStatus(\(status.rawValue),\(code.rawValue))"
    case .tokenRequestFailed(_, let code, _): "tokenRequestFailed(\(code.rawValue))"
    case .setRequestorComplete(let status): "setRequestorComplete(\(status.rawValue))"
    case .sendTrackingData(_, let event): event.name
    default: first(event)
    }
  }

  /// The name of an enumeration case without its associated values.
  private static func first(_ value: some Any) -> String {
    String("\(value)".prefix { $0 != "(" })
  }
}
