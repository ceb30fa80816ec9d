internal import RegentCryptography
internal import Glibc
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingService
internal import PasswordHashing
internal import PairingStore
internal import PairingStoreSQLite
internal import RegentPlatform
internal import TestSupport

// Whether an attacker can tell from the time of a refused sign-in why it was refused. Sign-ins go through the phone's
// pages in random order, each from its own address; the Mann-Whitney test compares each pair of kinds.

func enumerationRows() -> [Row] {
  [
    // Six pairs of kinds. With a bar of 3.14 for each, all pass in 99 of 100 runs if the times do not differ (p < 0.01
    // divided by six, two-sided).
    Row(
      name: "enumeration: |z| of refused sign-ins", unit: "", bar: .ours(atMost: 3.14)
    ) { try measureSignIns([.unknown, .wrong, .disabled, .disabledWrong]) },
    Row(
      name: "enumeration: |z| of names that must wait", unit: "", bar: .ours(atMost: 2.58)
    ) { try measureSignIns([.unknownWaiting, .waiting]) },
    // Ten pairs of kinds.
    Row(
      name: "enumeration: |z| of imported accounts", unit: "", bar: .ours(atMost: 3.29)
    ) { try measureSignIns([.movedUnknown, .movedNative, .movedArgon2, .movedBcrypt, .movedPBKDF2]) },
  ]
}

/// Why a sign-in is refused.
private enum SignInKind: String, CaseIterable {
  case unknown = "unknown name"
  case wrong = "wrong password"
  case disabled = "disabled, right password"
  case disabledWrong = "disabled, wrong password"
  case unknownWaiting = "unknown name, too many tries"
  case waiting = "known name, too many tries"
  case movedUnknown = "unknown name beside imported ones"
  case movedNative = "own hash beside imported ones"
  case movedArgon2 = "imported argon2id"
  case movedBcrypt = "imported bcrypt"
  case movedPBKDF2 = "imported PBKDF2"

  var exists: Bool { ![.unknown, .unknownWaiting, .movedUnknown].contains(self) }
  /// The provider `local` has only our own hashes, `moved` has imported hashes of three other kinds, too.
  var provider: String {
    switch self {
    case .movedUnknown, .movedNative, .movedArgon2, .movedBcrypt, .movedPBKDF2: "moved"
    default: "local"
    }
  }
  /// A hash of another program, whose password the benchmark does not need.
  var imported: String? {
    switch self {
    case .movedArgon2: "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    case .movedBcrypt: "$2b$08$N9qo8uLOickgx2ZMRZoMyejr5xuJVHga.4XdaiMQSdYw9UXN/LLAC"
    case .movedPBKDF2: "$pbkdf2-sha256$i=30000$MDEyMzQ1Njc4OWFiY2RlZg$tCK6hGlAUX+S3wqmp1+SgHNTOMutbamyT+S+FkaxDUA"
    default: nil
    }
  }
  var isDisabled: Bool { self == .disabled || self == .disabledWrong }
  var waits: Bool { self == .unknownWaiting || self == .waiting }
  var status: String { waits ? "429" : "403" }

  func name(_ number: Int) -> String {
    // All names are equally long, so that their length does not affect the time.
    let place = Self.allCases.firstIndex(of: self) ?? 0
    let digits = String(1000 + number)
    return "viewer\(place)\(digits)"
  }
}

private let samplesOfEach = 1000
/// The tries that a name may have before it must wait.
private let triesOfName = 4
private let password = "a password of many words"

// MARK: - The service

/// `serve-sign-in PORT FOLDER` serves the phone's pages with these accounts until it is killed.
func serveSignIn(_ arguments: [String]) -> Int32 {
  guard arguments.count == 2, let port = UInt16(arguments[0]) else {
    note("usage: Benchmarks serve-sign-in PORT FOLDER\n")
    return 2
  }
  Task {
    do {
      try await serve(port: port, folder: arguments[1])
    } catch {
      note("\(error)\n")
      exit(1)
    }
  }
  while true { pause() }
}

private func serve(port: UInt16, folder: String) async throws {
  let clock = ServiceClock.machine
  let store = try SQLiteStore(
    SQLiteStoreOptions(
      path: "\(folder)/bench.db", masterKey: Random.secret(32), wallClock: { clock.now }))
  func core() async throws -> ServiceCore {
    try await ServiceCore(ServiceOptions(publicURL: "http://127.0.0.1:\(port)"), store: store, clock: clock)
  }
  try await fill(core())
  // A second core, because the first one does not know what was written to the store after its start.
  let core = try await core()
  let pages = try PhonePages(WebFiles(readingFolder: packageFolder() + "/web"))
  let phone = try await Phone(core, pages)
  let router = try Router(ServiceRoutes.all(core, phone), refuse: phone.refuse)
  let loopback = try IPNetwork(parsing: "127.0.0.0/8")
  let handler = ForwardedHandler(trusting: TrustedProxies([loopback]), before: router)
  let server = try Server([Listener(.network(.loopback, port: port), handler: handler)])
  note("listening on \(server.addresses[0])\n")
  while true { try await Task.sleep(for: .seconds(3600)) }
}

private func fill(_ core: ServiceCore) async throws {
  let now = core.clock.now
  for id in ["local", "moved"] {
    _ = try await core.store.put(
      .provider(Provider(id: try identifier(id), name: id, kind: .local)), replacing: nil, audit: nil, at: now)
  }
  // One hash for all accounts: checking it takes as long as checking a separate one.
  let phc = try await core.passwords.hash(Secret(password))
  for kind in SignInKind.allCases {
    for number in 0..<(samplesOfEach / triesOfName) {
      let name: AccountName = try identifier(kind.name(number))
      let provider: ProviderID = try identifier(kind.provider)
      if kind.exists {
        var account = Account(provider: provider, name: name)
        account.isDisabled = kind.isDisabled
        _ = try await core.store.put(.account(account), replacing: nil, audit: nil, at: now)
        _ = try await core.store.setPassword(
          kind.imported ?? phc, of: name, at: provider, by: .operator, audit: nil, at: now)
      }
    }
    if kind.waits { try await exhaust(kind, in: core.store, at: now) }
  }
  try await core.refreshProvisioning()
}

/// Records more than 100 wrong tries of each name, the limit over all addresses, so that every sign-in must wait.
///
/// The names run at the same time, so that the store writes many records in a transaction.
private func exhaust(_ kind: SignInKind, in store: any Store, at now: Instant) async throws {
  try await withThrowingTaskGroup { group in
    for number in 0..<(samplesOfEach / triesOfName) {
      let subject = LoginSubject.account(try identifier(kind.provider), try identifier(kind.name(number)))
      group.addTask {
        for _ in 0..<115 { _ = try await store.recordLoginFailure(of: subject, at: now) }
      }
    }
    try await group.waitForAll()
  }
}

private func identifier<Kind>(_ text: String) throws -> Identifier<Kind> {
  guard let name = Identifier<Kind>(text) else { throw TestSupportError("no name: \(text)") }
  return name
}

// MARK: - The phone

private func measureSignIns(_ kinds: [SignInKind]) throws -> Measurement {
  try withTemporaryFolder { folder in
    let port = try freePort()
    let server = try PinnedServer(
      "sign-in", port: port, folder: folder,
      [try ownProgram(), "serve-sign-in", "\(port)", folder], patience: 120, pinned: false)
    defer { withExtendedLifetime(server) {} }
    var phone = try SignInPhone(port)
    var tries = (0..<samplesOfEach).flatMap { sample in kinds.map { ($0, sample / triesOfName) } }
    tries.shuffle()
    // The first sign-ins warm the server up with names of no kind.
    for number in 0..<50 { _ = try phone.time("nobody\(number)", "x") }
    var times: [SignInKind: [Double]] = [:]
    for (kind, number) in tries {
      let word = kind == .disabled || kind == .waiting ? password : "another of many words"
      let (seconds, status) = try phone.time(kind.name(number), word, at: kind.provider)
      guard status == kind.status else {
        throw TestSupportError("\(kind.rawValue) was answered with \(status)")
      }
      times[kind, default: []].append(seconds * 1000)
    }
    return judged(kinds, times)
  }
}

private func judged(_ kinds: [SignInKind], _ times: [SignInKind: [Double]]) -> Measurement {
  var notes: [String] = []
  for kind in kinds {
    let sorted = (times[kind] ?? []).sorted()
    notes.append(
      "\(kind.rawValue): p50 \(text(median(sorted))) ms, p90 \(text(sorted[sorted.count * 9 / 10])) ms"
    )
  }
  var worst = 0.0
  for (place, one) in kinds.enumerated() {
    for other in kinds[(place + 1)...] {
      let test = MannWhitney(times[one] ?? [], times[other] ?? [])
      worst = max(worst, abs(test.z))
      notes.append(
        "\(one.rawValue) against \(other.rawValue): slower in \(text(test.share * 100)) of 100, "
          + "z \(text(abs(test.z))), p \(text(erfc(abs(test.z) / 2.0.squareRoot())))")
    }
  }
  return Measurement(
    ours: worst, reference: nil,
    note: "\(samplesOfEach) of each kind\n    " + notes.joined(separator: "\n    "))
}

/// A browser that signs in again and again over one connection.
private struct SignInPhone {
  private let socket: Int32
  private let port: UInt16
  private let token: String
  private let cookie: String
  private var count = 0

  init(_ port: UInt16) throws {
    guard let socket = connectLoopback(port) else { throw TestSupportError("no phone") }
    self.socket = socket
    self.port = port
    try send("GET /sign-in/local HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", over: socket)
    let page = try receive(from: socket)
    guard let token = page.part(after: "name=\"csrf\" value=\"", until: "\""),
      let cookie = page.part(after: "Set-Cookie: ", until: ";")
    else { throw TestSupportError("no form: \(page)") }
    self.token = token
    self.cookie = cookie
  }

  /// The seconds that a sign-in took, and the status of its response.
  mutating func time(_ user: String, _ password: String, at provider: String = "local") throws -> (Double, String) {
    count += 1
    let source = "10.\(count >> 16 & 255).\(count >> 8 & 255).\(count & 255)"
    let body =
      "csrf=\(token)&user=\(user)&password=\(password.split(separator: " ").joined(separator: "+"))"
    let request =
      "POST /sign-in/\(provider) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(cookie)\r\n"
      + "X-Forwarded-For: \(source)\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    let start = monotonicSeconds()
    try send(request, over: socket)
    let answer = try receive(from: socket)
    let seconds = monotonicSeconds() - start
    return (seconds, answer.part(after: "HTTP/1.1 ", until: " ") ?? "")
  }
}

private func send(_ text: String, over socket: Int32) throws {
  let bytes = Array(text.utf8)
  let count = unsafe bytes.withUnsafeBytes {
    unsafe Glibc.send(socket, $0.baseAddress, $0.count, 0)
  }
  guard count == bytes.count else { throw TestSupportError("send: errno \(errno)") }
}

/// Receives one whole response, in as many parts as it comes.
private func receive(from socket: Int32) throws -> String {
  var text = ""
  var piece = [UInt8](repeating: 0, count: 32768)
  while true {
    let count = unsafe piece.withUnsafeMutableBytes {
      unsafe recv(socket, $0.baseAddress, $0.count, 0)
    }
    guard count > 0 else { throw TestSupportError("recv: errno \(errno)") }
    text += String(decoding: piece[..<count], as: UTF8.self)
    guard let length = text.part(after: "Content-Length: ", until: "\r\n").flatMap(Int.init),
      let body = text.utf8.firstEnd(of: "\r\n\r\n")
    else { continue }
    if text.utf8.distance(from: body, to: text.utf8.endIndex) >= length { return text }
  }
}

extension String {
  fileprivate func part(after start: String, until end: String) -> String? {
    guard let open = utf8.firstEnd(of: start) else { return nil }
    let rest = utf8[open...]
    let bytes = Array(end.utf8)
    var at = rest.startIndex
    while at < rest.endIndex {
      if rest[at...].starts(with: bytes) { return String(rest[..<at]) }
      at = rest.index(after: at)
    }
    return nil
  }
}

extension String.UTF8View {
  fileprivate func firstEnd(of text: String) -> Index? {
    let bytes = Array(text.utf8)
    var at = startIndex
    while at < endIndex {
      if self[at...].starts(with: bytes) { return index(at, offsetBy: bytes.count) }
      at = index(after: at)
    }
    return nil
  }
}

// MARK: - The statistics

/// The Mann-Whitney test in its normal approximation, which is accurate for hundreds of samples.
struct MannWhitney {
  /// The probability that a value of the first kind is larger than one of the second: 0.5 if the kinds do not differ.
  let share: Double
  /// The distance of `share` from 0.5 in standard deviations.
  let z: Double

  init(_ one: [Double], _ other: [Double]) {
    let n = Double(one.count)
    let m = Double(other.count)
    let all = (one.map { ($0, true) } + other.map { ($0, false) }).sorted { $0.0 < $1.0 }
    var ranks = 0.0
    var at = 0
    while at < all.count {
      var end = at
      while end < all.count, all[end].0 == all[at].0 { end += 1 }
      // Equal values share their ranks.
      let rank = Double(at + 1 + end) / 2
      ranks += rank * Double(all[at..<end].count { $0.1 })
      at = end
    }
    let u = ranks - n * (n + 1) / 2
    share = u / (n * m)
    z = (u - n * m / 2) / (n * m * (n + m + 1) / 12).squareRoot()
  }
}
