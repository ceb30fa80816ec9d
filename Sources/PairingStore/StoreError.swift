public import RegentPairing

/// Why a verb did not do what it says.
///
/// Except for `unknownOutcome`, nothing has changed then.
public enum StoreError: Error, Hashable, Sendable {
  /// The life of the code does not allow it.
  case refused(PairingRefusal)
  /// Account, integration or key do not stand (any more).
  case notInForce(AuthenticationRefusal)
  /// The temporary pass opens nothing more.
  case pass(TemporaryPassRefusal)
  /// The box's word is not taken.
  case exchange(ExchangeRefusal)
  /// There is no such thing; `what` names its kind, never its secret.
  case notFound(what: String)
  /// The code is another's: draw a new one and try again.
  case codeTaken
  /// As many codes as allowed are waiting for an answer.
  case tooManyLiveCodes(limit: Int)
  /// As many clients as allowed registered themselves.
  case tooManyClients(limit: Int)
  /// The browser's session has ended.
  case sessionEnded
  /// The record is not as the caller has seen it: read it again and decide anew.
  case changedMeanwhile(what: String)
  /// The database cannot keep such a text, also when it is asked again; `what` says which kind, and never repeats it.
  case unkeepable(what: String)
  /// The disk is full: nothing was written, reading goes on.
  case diskFull
  /// The store cannot be reached now: nothing was written.
  case unavailable(reason: String)
  /// The store does not know whether it was written. Stop, reopen, ask again: every verb may be repeated.
  case unknownOutcome(reason: String)
}

extension StoreError {
  /// Why a store can do nothing of what it is asked.
  public enum Outage: Hashable, Sendable { case full, away, unknown }

  /// Why the store could not do it, whatever it was; nothing when the store has refused something.
  public var outage: Outage? {
    switch self {
    case .diskFull: .full
    case .unavailable: .away
    case .unknownOutcome: .unknown
    default: nil
    }
  }
}

extension StoreError: CustomStringConvertible {
  /// What failed, on what, and what to do about it.
  public var description: String {
    switch self {
    case .refused(let reason): reason.description
    case .notInForce(let reason): reason.description
    case .pass(.durationExceeded): "the temporary pass has run out: sign in with an account"
    case .pass(.resourcesExceeded): "the temporary pass opens no further titles"
    case .pass(.identityMissing): "this temporary pass needs the viewer's identity"
    case .exchange(let refusal): refusal.description
    case .notFound(let what): "there is no such \(what)"
    case .codeTaken: "the code is already in use: create another"
    case .tooManyLiveCodes(let limit): "the limit of \(limit) waiting codes is reached: try again later"
    case .tooManyClients(let limit):
      "\(limit) clients have registered themselves, which is the limit: remove unused ones"
    case .sessionEnded: "the browser is signed out: sign in again"
    case .changedMeanwhile(let what): "another command changed the \(what) meanwhile: check it and try again"
    case .unkeepable(let what): "the database cannot store \(what)"
    case .diskFull: "the disk is full: free space; the service then continues by itself"
    case .unavailable(let reason): "the database cannot be reached (\(reason)): try again"
    case .unknownOutcome(let reason):
      "it is unknown whether the change was written (\(reason)): check before you repeat it"
    }
  }
}
