import TestSupport

/// One act of a story, by a box, a phone, an operator or the service itself.
///
/// Boxes, phones and codes are numbers of the player's lists, so that the same seed always gives the same story.
enum Act: Hashable, Sendable {
  // A box.
  case offer(box: Int, matches: Bool, seconds: Int)
  case read(code: Int)
  case poll(box: Int)
  case authorize(box: Int, title: String)
  case media(box: Int, title: String)
  case signOut(box: Int)
  case takeBack(code: Int)
  // A phone.
  case open(phone: Int, code: Int)
  case signIn(phone: Int, code: Int, account: String, right: Bool)
  case enterAsGuest(phone: Int, code: Int)
  case approve(phone: Int, code: Int)
  case pick(phone: Int, code: Int, right: Bool)
  case deny(phone: Int, code: Int)
  case renew(phone: Int, code: Int)
  case release(phone: Int, code: Int)
  case leave(phone: Int)
  /// An approval with the form token of another browser.
  case forge(phone: Int, code: Int)
  // An operator.
  case approveAsOperator(code: Int, account: String)
  case withdrawAsOperator(code: Int)
  case signOutAsOperator(box: Int)
  case disable(account: String, Bool)
  case integrate(Bool)
  case denyRule(Bool)
  // The service itself.
  case pass(seconds: Int)
  case tidy
  case restart
}

/// Draws random acts.
///
/// Most are steps of an ordinary pairing, so that stories make progress; the others disturb it.
struct ActSource {
  static let boxes = 4
  static let phones = 3
  /// The number of newest codes that acts refer to; older codes are hardly ever used.
  private static let latest = 4
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(state: seed) }

  mutating func next() -> Act {
    let box = Int.random(in: 0..<Self.boxes, using: &random)
    let phone = Int.random(in: 0..<Self.phones, using: &random)
    // The minimum of two draws prefers the newest codes, so that two phones meet at one code.
    let code = min(Int.random(in: 0..<Self.latest, using: &random), Int.random(in: 0..<Self.latest, using: &random))
    let account = Bool.random(using: &random) ? "demo" : "anna"
    let title = Int.random(in: 0..<4, using: &random) == 0 ? "movies" : "news"
    let chance = Int.random(in: 0..<4, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12: return .offer(box: box, matches: chance == 0, seconds: [1800, 1800, 60, 7200][chance])
    case 12..<16: return .read(code: code)
    case 16..<24: return .poll(box: box)
    case 24..<30: return .authorize(box: box, title: title)
    case 30..<34: return .media(box: box, title: title)
    case 34..<36: return .signOut(box: box)
    case 36..<38: return .takeBack(code: code)
    case 38..<49: return .open(phone: phone, code: code)
    case 49..<58: return .signIn(phone: phone, code: code, account: account, right: chance != 0)
    case 58..<60: return .enterAsGuest(phone: phone, code: code)
    case 60..<69: return .approve(phone: phone, code: code)
    case 69..<73: return .pick(phone: phone, code: code, right: chance != 0)
    case 73..<75: return .deny(phone: phone, code: code)
    case 75..<77: return .renew(phone: phone, code: code)
    case 77..<79: return .release(phone: phone, code: code)
    case 79..<81: return .leave(phone: phone)
    case 81..<83: return .forge(phone: phone, code: code)
    case 83..<86: return .approveAsOperator(code: code, account: account)
    case 86..<87: return .withdrawAsOperator(code: code)
    case 87..<88: return .signOutAsOperator(box: box)
    // An account is enabled three times as often as it is disabled.
    case 88..<91: return .disable(account: account, chance == 0)
    case 91..<93: return .integrate(chance != 0)
    case 93..<94: return .denyRule(chance == 0)
    case 94..<98: return .pass(seconds: pause())
    case 98..<99: return .tidy
    default: return chance == 0 ? .restart : .poll(box: box)
    }
  }

  /// Draws a pause just before or after each lifetime: of a lease, a code, its record, a permit, a browser session, a
  /// sign-in.
  private mutating func pause() -> Int {
    let spans = [1, 20, 119, 121, 400, 1_300, 1_900, 4_000, 45_000, 90_000, 2_700_000]
    // The four longest are rare, because after them nothing is in force.
    let most = Int.random(in: 0..<8, using: &random) == 0 ? spans.count : spans.count - 4
    return spans[Int.random(in: 0..<most, using: &random)]
  }
}
