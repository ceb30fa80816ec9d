import HTTPServer
import HTTPTestSupport
import PairingService
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentJSON
import RegentPairing
import ServiceTestSupport
import TestSupport

/// Plays a story to the service, through its routes, pages and admin calls, and to the oracle.
///
/// After each act both must agree.
struct Player {
  var service: TestService
  var client: any TestClient
  var admin: AdminSocket
  let oracle: Oracle
  var phones: [Browser]
  /// The codes of the story, the newest last.
  var codes: [Code] = []
  /// The acts that the service answered with 429 or 503.
  ///
  /// A service that refuses everything would pass every comparison.
  private(set) var refusals = 0
  private let opening: StoreOpening

  struct Code {
    let text: String
    /// The id of the code's record at the service.
    let record: String
    let id: RegistrationID
    let box: Int
    let matches: Bool
  }

  struct Browser {
    var page: PhoneBrowser
    /// Its session at the oracle.
    var session: SessionID?
    /// The codes that it has opened, the newest first; the service remembers four for a browser.
    var opened: [Int] = []
  }

  init(_ opening: StoreOpening) async throws {
    self.opening = opening
    oracle = try await Oracle()
    service = try await TestService(on: try opening.open())
    try await service.addAccount("anna")
    (client, admin) = try await Self.connect(service)
    let client = client
    phones = (0..<ActSource.phones).map { _ in Browser(page: PhoneBrowser(client)) }
  }

  private static func connect(_ service: TestService) async throws -> (any TestClient, AdminSocket) {
    (InProcessClient(try await service.phoneRouter()), try AdminSocket(service.core))
  }

  var now: Instant { service.clock.now }

  func code(_ number: Int) -> (place: Int, code: Code)? {
    let place = codes.count - 1 - number
    return codes.indices.contains(place) ? (place, codes[place]) : nil
  }

  /// Whether an answer is a 429 or 503, after which nothing may have changed.
  mutating func isRefused(_ answer: TestResponse) -> Bool {
    guard answer.status == 429 || answer.status == 503 else { return false }
    refusals += 1
    return true
  }

  /// - Throws: `Difference` when the service and the oracle differ.
  mutating func play(_ act: Act) async throws {
    switch act {
    case .offer(let box, let matches, let seconds): try await offer(box, matches, seconds)
    case .read(let code): try await read(code)
    case .poll(let box): try await poll(box)
    case .authorize(let box, let title): try await authorize(box, title)
    case .media(let box, let title): try await media(box, title)
    case .signOut(let box): try await signOut(box)
    case .takeBack(let code): try await takeBack(code)
    case .open(let phone, let code): try await open(phone, code)
    case .signIn(let phone, let code, let account, let right): try await signIn(phone, code, account, right)
    case .enterAsGuest(let phone, let code): try await enterAsGuest(phone, code)
    case .approve(let phone, let code): try await approve(phone, code)
    case .pick(let phone, let code, let right): try await pick(phone, code, right)
    case .deny(let phone, let code): try await deny(phone, code)
    case .renew(let phone, let code): try await renew(phone, code)
    case .release(let phone, let code): try await release(phone, code)
    case .leave(let phone): try await leave(phone)
    case .forge(let phone, let code): try await forge(phone, code)
    case .approveAsOperator(let code, let account): try await approveAsOperator(code, account)
    case .withdrawAsOperator(let code): try await withdrawAsOperator(code)
    case .signOutAsOperator(let box): try await signOutAsOperator(box)
    case .disable(let account, let isOn): try await disable(account, isOn)
    case .integrate(let isOn): try await integrate(isOn)
    case .denyRule(let isOn): try await denyRule(isOn)
    case .pass(let seconds): service.clock.pass(.seconds(seconds))
    case .tidy: try await tidy()
    case .restart: try await restart()
    }
    try await compare()
  }

  private func tidy() async throws {
    await Upkeep(service.core).once()
    let now = now
    while try await oracle.store.forgetExpired(at: now, limit: 200) == 200 {}
  }

  /// Stops the service and starts it again on the same database.
  private mutating func restart() async throws {
    let running = service
    try await eventually("the lines of the audit log") { running.core.audit.linesUnderWay == 0 }
    // The service refuses signed headers that are older than its start, so a call in the same second would fail.
    service.clock.pass(.seconds(2))
    service = try await TestService(restarting: service, on: try opening.reopen())
    (client, admin) = try await Self.connect(service)
    for place in phones.indices { phones[place].page.client = client }
  }
}
