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

extension AccessEnabler {
  /// The sign-in that is kept for a requestor and still valid: what this box knows, without the network and without
  /// waiting for anything that is under way.
  package func keptSignIn(of requestor: String) async -> SignIn? { await runtime.performer.kept(requestor) }

  /// Makes one call to the service that the sign-in came from.
  ///
  package func call(_ call: BoxCall, for requestor: String) async throws(EntitlementError) -> BoxAnswer {
    switch await runtime.performer.answer(to: .box(call), for: requestor) {
    case .box(let answer): return answer
    case .failed(let failure):
      throw EntitlementError(
        failure.kind == .unreachable ? .unreachable : failure.status == 401 ? .notTrusted : .service,
        message: failure.details ?? failure.message, hint: failure.hint)
    default: throw EntitlementError(.service)
    }
  }
}
