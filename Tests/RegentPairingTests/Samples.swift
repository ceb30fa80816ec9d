import RegentPairing

/// A generator whose draws can be repeated: a red test names its seed.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A name that the test knows to be allowed.
func name<Kind>(_ text: String) throws -> Identifier<Kind> {
  guard let name = Identifier<Kind>(text) else { throw BadSample(text: text) }
  return name
}

struct BadSample: Error {
  let text: String
}

/// Ann's and Bob's browsers, and a code of half an hour.
struct Scene {
  let ann: Claimer
  let bob: Claimer
  let carl: OperatorName
  let first: AuthenticationID
  let guest: Viewer
  let start = Instant(milliseconds: 1_700_000_000_000)

  init() throws {
    ann = Claimer(
      session: try name("ann-1"),
      viewer: Viewer(provider: try name("local"), account: try name("ann")))
    bob = Claimer(
      session: try name("bob-1"),
      viewer: Viewer(provider: try name("local"), account: try name("bob")))
    carl = try name("carl")
    first = try name("authentication-1")
    guest = Viewer(provider: try name("pass"), account: nil)
  }

  func flow(_ state: PairingState, match: NumberMatch? = nil, sequence: Int = 5) -> PairingFlow {
    PairingFlow(
      issued: start, expires: start + .seconds(1800), match: match, state: state,
      sequence: sequence)
  }

  func lease(_ claimer: Claimer, for span: Duration) -> PairingState {
    .claimed(ClaimLease(claimer: claimer, until: start + span))
  }

  var approval: Approval {
    Approval(
      viewer: ann.viewer, authentication: first, by: .session(ann.session), at: start + .seconds(5))
  }
}

func at(_ seconds: Int) -> Instant {
  Instant(milliseconds: 1_700_000_000_000) + .seconds(seconds)
}

func up(_ seconds: Int) -> Uptime {
  Uptime(milliseconds: Int64(seconds) * 1000)
}
