public import RegentPairing

/// Why a store operation failed.
///
/// Except with `unknownOutcome`, the operation has changed nothing.
public enum StoreError: Error, Hashable, Sendable {
  /// The change of a code was refused, because the code's state does not allow it.
  case refused(PairingRefusal)
  /// The sign-in is not valid: its account, integration or key pair for row signatures is missing, disabled or revoked.
  case notInForce(AuthenticationRefusal)
  /// The temporary pass is used up or cannot be used.
  case pass(TemporaryPassRefusal)
  /// The assertion with which a box signs an app in was not accepted.
  case exchange(ExchangeRefusal)
  /// The record does not exist.
  ///
  /// `what` names its kind and never contains a secret.
  case notFound(what: String)
  /// The code, or the id, of the new record is already in use.
  ///
  /// The caller generates a new one and tries again.
  case codeTaken
  /// The maximum number of pending codes is reached.
  case tooManyLiveCodes(limit: Int)
  /// The maximum number of clients that registered themselves is reached.
  case tooManyClients(limit: Int)
  case sessionEnded
  /// The record has changed since the caller read it.
  ///
  /// The caller reads it again and decides anew.
  case changedMeanwhile(what: String)
  /// The database cannot store this text, so a retry is useless.
  ///
  /// `what` names the kind of text and never repeats it.
  case unkeepable(what: String)
  /// The disk is full, so nothing was written.
  ///
  /// Reads still work.
  case diskFull
  /// The database cannot be reached: nothing was written.
  case unavailable(reason: String)
  /// The store does not know whether the change was written.
  ///
  /// The caller reopens the store and repeats the operation. Every operation may be repeated.
  case unknownOutcome(reason: String)
}

extension StoreError {
  /// How the store itself fails: the disk is full, the database is away, or the outcome of a write is unknown.
  public enum Outage: Hashable, Sendable { case full, away, unknown }

  /// The kind of outage that caused this error; nil when the store works and has refused the operation.
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
