import RegentPairing

/// Makes an identifier of a text that the test knows to be valid.
func name<Kind>(_ text: String) throws -> Identifier<Kind> {
  guard let name = Identifier<Kind>(text) else { throw BadSample(text: text) }
  return name
}

struct BadSample: Error {
  let text: String
}

/// Two viewers with their browsers, an operator, and a code that lives for half an hour.
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
