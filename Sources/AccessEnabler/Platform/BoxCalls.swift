/// What the box's daemon asks its service beside the enabler's own calls: nothing that an app has a use for.
package enum BoxCall: Hashable, Sendable {
  /// Enrols the public half of the box's key with the sign-in that is there.
  case enrol(publicKey: String)
  /// What the viewer decided about an app, so long ago.
  case decision(app: String, requestor: String, permission: String, age: Duration)
  /// What was decided about the box's apps, held for so many seconds while it is what the tag names.
  case decisions(unless: String?, wait: Int)
}

/// What came of such a call.
package struct BoxAnswer: Hashable, Sendable {
  /// The answer's document, when it brought one: none also when what the call named is still so.
  package var body: String?
  /// By which the answer can be named.
  package var tag: String?
}

/// What is left of a sign-out.
package struct UnfinishedSignOut: Hashable, Sendable {
  /// Whether a service must still hear of it.
  package var isUntold = false
  /// Why it is not on disk, if it is not: a restart brings the sign-in back.
  package var unkept: String?
}

extension AccessEnabler {
  /// What is left of the sign-outs of a requestor; no network, no waiting.
  package func unfinishedSignOut(of requestor: String) async -> UnfinishedSignOut {
    await runtime.performer.unfinishedSignOut(requestor)
  }

  /// The sign-in that is kept for a requestor and still valid: what this box knows, without the network and without
  /// waiting for anything that is under way.
  package func keptSignIn(of requestor: String) async -> SignIn? { await runtime.performer.kept(requestor) }

  /// Makes one call to the service that the sign-in came from.
  package func call(_ call: BoxCall, for requestor: String) async throws(EntitlementError) -> BoxAnswer {
    switch await runtime.performer.answer(to: .box(call), for: requestor) {
    case .box(let answer): return answer
    case .failed(let failure):
      let kind: EntitlementError.Kind =
        switch failure.status {
        case _ where failure.kind == .unreachable: .unreachable
        case 401: .notTrusted
        // As for a sign-out: the service knows of no sign-in.
        case _ where Machine.isSignedOut(.failed(failure)): .notAuthenticated
        default: .service
        }
      throw EntitlementError(
        kind, message: failure.details ?? failure.message, hint: failure.hint)
    default: throw EntitlementError(.service)
    }
  }
}
