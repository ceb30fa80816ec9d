import CommandKit
import RegentPlatform

/// What happens between the box and the service while it signs in.
enum LinkEvent: Sendable, Equatable {
  /// The service has these providers.
  case providers([ProviderEntry], last: String?)
  /// A code to show.
  case code(ShownCode)
  /// A phone has it open.
  case opened
  /// The phone asks for this number.
  case match(Int)
  /// It is done.
  case authenticated(name: String?, provider: String?)
  /// It was done before: nothing has to be shown on a phone.
  case alreadySignedIn(name: String?, provider: String?)
  /// It was refused on the phone.
  case denied
  /// The code is over.
  case expired
  /// The service gave the code up before its time.
  case withdrawn
  /// Something is in the way; the same code, or the same request for one, goes on.
  case trouble(AgentFailure)
  /// It is out of the way.
  case recovered
  /// Nothing goes on by itself.
  case failed(AgentFailure)
}

/// Everything that a sign-in reacts to.
enum PairInput: Sendable, Equatable {
  case link(LinkEvent)
  case key(Key)
  /// Somebody pressed a button that sends a signal.
  case renew
  /// The terminal has another size, or was given back after Ctrl-Z.
  case redraw
  /// The terminal is gone: no key will come.
  case keysEnded
  /// Somebody wants the program to end.
  case stop
  /// Nobody reads the lines any more: the launcher is gone.
  case unheard
  /// Time passed.
  case tick
}

/// What a sign-in wants done.
enum PairEffect: Sendable, Equatable {
  /// Ask for a code; an earlier one of this box is withdrawn by that.
  case requestCode(provider: String?)
  /// Take the code back: whoever quits does not want it approved any more.
  case withdraw
  /// Tell the launcher.
  case tell(PairEvent)
  /// End the program.
  case end(ExitCode)
}

/// Who is there to press keys.
enum PairMode: Sendable, Equatable {
  /// Somebody at a keyboard.
  case attended
  /// Nobody: expired codes are replaced.
  case unattended
  /// A launcher reads lines: one code, one answer.
  case once
}
