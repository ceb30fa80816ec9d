import CommandKit
import RegentPlatform

/// An event of the sign-in at the service.
enum LinkEvent: Sendable, Equatable {
  /// The service offers these providers; `last` is the provider that was used before.
  case providers([ProviderEntry], last: String?)
  case code(ShownCode)
  /// A phone has opened the page of the code.
  case opened
  /// The viewer must type this number on the phone.
  case match(Int)
  /// The box was signed in, because the viewer approved the code.
  case authenticated(name: String?, provider: String?)
  /// The box was signed in before, so no code is needed. `id` is the provider's id.
  case alreadySignedIn(name: String?, provider: String?, id: String? = nil)
  /// The viewer denied the code on the phone.
  case denied
  case expired
  /// The service withdrew the code before it expired.
  case withdrawn
  /// A problem that may disappear by itself. The same code, or the same request for one, stays in effect.
  case trouble(AgentFailure)
  /// The temporary problem has disappeared.
  case recovered
  /// An error after which the program retries nothing automatically.
  case failed(AgentFailure)
}

/// An input of ``PairModel``.
enum PairInput: Sendable, Equatable {
  case link(LinkEvent)
  case key(Key)
  /// A request for a new code from outside, such as a button that sends SIGUSR1.
  case renew
  /// The screen must be drawn again: its size changed, or the program continues after Ctrl-Z.
  case redraw
  /// The terminal was closed, so no more keys will come.
  case keysEnded
  /// A signal asks the program to end.
  case stop
  /// The output cannot be written any more, because the launcher has ended.
  case unheard
  /// The time of the next deadline has come.
  case tick
}

/// An output of ``PairModel``, for ``PairSession`` to perform.
enum PairEffect: Sendable, Equatable {
  /// Request a code.
  ///
  /// The service then withdraws the box's earlier code.
  case requestCode(provider: String?)
  /// Withdraw the code, so that a viewer cannot approve it after the program has ended.
  case withdraw
  /// Print the event for the launcher.
  case tell(PairEvent)
  case end(ExitCode)
}

/// How the program `regent pair` is operated.
enum PairMode: Sendable, Equatable {
  /// A person at the keyboard operates the program.
  case attended
  /// There is no keyboard, so expired codes are replaced automatically.
  case unattended
  /// A launcher reads the lines of the program: one code and one outcome, then the program ends.
  case once
}
