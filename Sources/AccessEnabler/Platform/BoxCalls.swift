/// What the box's daemon asks its service beside the enabler's own calls: nothing that an app has a use for.
package enum BoxCall: Hashable, Sendable {
  /// Enrols the public half of the box's key with the sign-in that is there.
  case enrol(publicKey: String)
  /// What the viewer decided about an app.
  case decision(app: String, requestor: String, permission: String)
}

extension AccessEnabler {
  /// The sign-in that is kept for a requestor and still valid: what this box knows, without the network and without
  /// waiting for anything that is under way.
  package func keptSignIn(of requestor: String) async -> SignIn? { await runtime.performer.kept(requestor) }

  /// Makes one call to the service that the sign-in came from.
  ///
  /// - Returns: the answer's document as text, when it brought one.
  package func call(_ call: BoxCall, for requestor: String) async throws(EntitlementError) -> String? {
    switch await runtime.performer.answer(to: .box(call), for: requestor) {
    case .box(let text): return text
    case .failed(let failure):
      throw EntitlementError(
        failure.kind == .unreachable ? .unreachable : failure.status == 401 ? .notTrusted : .service,
        message: failure.details ?? failure.message, hint: failure.hint)
    default: throw EntitlementError(.service)
    }
  }
}
