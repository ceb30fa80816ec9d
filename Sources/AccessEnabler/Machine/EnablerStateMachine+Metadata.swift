import RegentPairing
import RegentPairingWire

// Answers requests for the viewer's metadata and for the selected provider.

extension EnablerStateMachine {
  mutating func tellSelectedProvider(_ request: RequestID) {
    let provider =
      switch selection {
      case .noProvider, .ahead(.onSecondScreen): MVPD?.none
      case .ahead(.provider(let id)): providers.first { $0.id.isSameText(as: id) }
      case .usual: validAuthentication?.signIn.provider ?? tokens.selected
      }
    tell(.selectedProvider(provider), request)
    finish(request, .selected(provider))
  }

  mutating func getMetadata(
    _ key: MetadataRequest?, _ arguments: [String: String], _ request: RequestID
  ) {
    func milliseconds(_ instant: Instant?) -> Metadata {
      Metadata(value: instant.map { .text(String($0.milliseconds)) })
    }
    switch key {
    case nil:
      tell(.setMetadataStatus(Metadata(value: nil), key: "", arguments: arguments), request)
      fail(request, EntitlementError(.outOfOrder, message: "nothing of this name can be asked"))
    case .authenticationExpiry?:
      tellMetadata(milliseconds(validAuthentication?.signIn.expires), key, arguments, request)
    case .authorizationExpiry(let resource)?:
      let permit = tokens.permits[resource].flatMap { $0.isValid(at: now) ? $0 : nil }
      tellMetadata(milliseconds(permit?.expires), key, arguments, request)
    case .deviceID?:
      let isAllowed = settings.exposesDeviceID || responders.contains(where: \.exposesDeviceID)
      let id = isAllowed ? MetadataValue.text(settings.deviceID) : nil
      tellMetadata(Metadata(value: id), key, arguments, request)
    case .user(let name)?:
      guard let kept = validAuthentication else {
        let empty = Metadata(value: nil)
        tell(
          .setMetadataStatus(empty, key: MetadataArgument.userMetadata, arguments: arguments),
          request)
        return fail(request, notSignedIn())
      }
      pendingCalls[request] = .metadata(.user(name), arguments: arguments)
      _ = send(.userMetadata, to: kept.service, for: .pendingCall(request))
    }
  }

  private mutating func tellMetadata(
    _ metadata: Metadata, _ key: MetadataRequest?, _ arguments: [String: String],
    _ request: RequestID
  ) {
    tell(.setMetadataStatus(metadata, key: key?.name ?? "", arguments: arguments), request)
    finish(request, .metadata(metadata))
  }

  mutating func metadataCame(
    _ answer: ServiceAnswer, _ key: MetadataRequest, _ arguments: [String: String],
    _ request: RequestID
  ) {
    switch answer {
    case .metadata(let all):
      tellMetadata(all[key.attribute] ?? Metadata(value: nil), key, arguments, request)
    // The service has no metadata about this viewer.
    case .failed(let failure) where failure.status == 404:
      tellMetadata(Metadata(value: nil), key, arguments, request)
    case .failed(let failure):
      if failure.meansNotSignedIn { forgetSignIn(failure) }
      metadataFailed(failure, key, arguments, request)
    default: metadataFailed(ServiceFailure(kind: .unreadable), key, arguments, request)
    }
  }

  /// For metadata that the service did not deliver: reports an empty value, as the original API documents, and fails
  /// the `async` call with the reason.
  private mutating func metadataFailed(
    _ failure: ServiceFailure, _ key: MetadataRequest, _ arguments: [String: String],
    _ request: RequestID
  ) {
    let empty = Metadata(value: nil)
    tell(.setMetadataStatus(empty, key: key.name, arguments: arguments), request)
    let kind: EntitlementError.Kind =
      switch failure.kind {
      case _ where failure.meansAccountDisabled: .accountDisabled
      case _ where failure.meansNotSignedIn: .notAuthenticated
      case .unreachable: .unreachable
      case .unsafeConnection: .unsafeConnection
      case .clockWrong: .clockWrong
      case .captivePortal: .captivePortal
      case .status(429): .throttled
      case .status(401), .registration, .accessToken: .notTrusted
      case .unreadable, .status: .service
      }
    fail(request, EntitlementError(kind, failure))
  }
}
