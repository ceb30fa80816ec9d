package import RegentPairing

/// Requests that the box's daemon sends to its service in addition to the enabler's own.
///
/// Apps do not need these requests.
package enum BoxCall: Hashable, Sendable {
  /// Registers the public half of the box's key, using the box's sign-in. The box signs each decision with this key.
  case enrol(publicKey: String)
  /// Reports the viewer's decision whether an app may use the box's shared account. The viewer decided `age` ago.
  ///
  /// `signed` is the same decision, signed with the box's key. Services of version 0.1.0 read only the other values.
  case decision(app: String, requestor: String, permission: String, age: Duration, signed: String)
  /// Requests the viewer's decisions about the box's apps.
  ///
  /// `unless` is the entity tag of the decisions that the box knows. While they are unchanged, the service holds the
  /// response for up to `wait` seconds.
  case decisions(unless: String?, wait: Int)
}

/// The response to a ``BoxCall``.
package struct BoxAnswer: Hashable, Sendable {
  /// The response's document; nil if the response has none, or if nothing has changed since the tag.
  package var body: String?
  /// The tag of the state in the response, to send as `unless` with the next request.
  package var tag: String?
}

/// The steps of a sign-out that have not succeeded yet.
package struct UnfinishedSignOut: Hashable, Sendable {
  /// Whether a service has not been told of the sign-out yet.
  package var isUntold = false
  /// Why the sign-out is not stored on disk, if it is not.
  ///
  /// A restart would bring the sign-in back.
  package var unkept: String?
}

extension AccessEnabler {
  /// The steps that have not succeeded yet for the sign-outs of a requestor.
  ///
  /// Sends no request and returns at once.
  package func unfinishedSignOut(of requestor: String) async -> UnfinishedSignOut {
    await runtime.performer.unfinishedSignOut(requestor)
  }

  /// The stored sign-in of a requestor if it is still valid.
  ///
  /// Sends no request and does not wait for running calls.
  package func keptSignIn(of requestor: String) async -> SignIn? { await runtime.performer.kept(requestor) }

  /// The time by the clock of the service that granted the requestor's sign-in, as its latest response showed it.
  package func serviceTime(for requestor: String) async -> Instant {
    await runtime.performer.serviceTime(for: requestor)
  }

  /// Sends one request of the box's daemon to the service that granted the requestor's sign-in.
  package func call(_ call: BoxCall, for requestor: String) async throws(EntitlementError) -> BoxAnswer {
    switch await runtime.performer.answer(to: .box(call), for: requestor) {
    case .box(let answer): return answer
    case .failed(let failure):
      let kind: EntitlementError.Kind =
        switch failure.status {
        case _ where failure.kind == .unreachable: .unreachable
        case 401: .notTrusted
        case _ where failure.meansAccountDisabled: .accountDisabled
        // As for a sign-out, these statuses mean that the service has no sign-in for this device.
        case _ where EnablerStateMachine.isSignedOut(.failed(failure)): .notAuthenticated
        default: .service
        }
      throw EntitlementError(
        kind, message: failure.details ?? failure.message, hint: failure.hint)
    default: throw EntitlementError(.service)
    }
  }
}
