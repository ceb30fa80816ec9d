package import RegentPairing
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentPairingWire

/// Why a request needs a sign-in.
///
/// It decides which error the client gets when there is none.
package enum SignInNeed: Sendable {
  /// The request needs a sign-in to watch (`authorize` and `tokens/media`); without one the status is 403.
  case toWatch
  /// The request needs a sign-in to read data (`tokens/authz` and `tokens/usermetadata`); without one the status is
  /// 412.
  case toRead
  /// The request needs a sign-in to mark titles in lists (`preauthorize`); without one the status is 412, with error
  /// codes of its own.
  case toPreauthorize
}

extension SignInNeed {
  /// The error for a device that needs a sign-in and has none.
  package var missing: CallError { error(missingCode, details: nil) }

  /// The error for a device whose sign-in is no longer valid.
  package func refused(_ refusal: AuthenticationRefusal) -> CallError {
    switch (refusal, self) {
    case (.expired, _): error(expiredCode, details: refusal.description)
    // Only requests to watch have an error code for a sign-in that ended. The others report a missing sign-in.
    case (_, .toWatch): error(.authenticationSessionInvalidated, details: refusal.description)
    default: error(missingCode, details: refusal.description)
    }
  }

  /// The error for a guest whose temporary pass, and with it the sign-in, has expired.
  package var passEnded: CallError {
    guard case .toWatch = self else {
      return error(expiredCode, details: StoreError.pass(.durationExceeded).description)
    }
    return CallError(watching: .durationExceeded)
  }

  private func error(_ code: EnhancedCode, details: String?) -> CallError {
    switch self {
    case .toWatch:
      CallError(
        .forbidden, ErrorMessage.notAuthenticatedForAuthorize, details: details, code: code)
    case .toRead, .toPreauthorize:
      CallError(.preconditionFailed, ErrorMessage.notAuthenticated, details: details, code: code)
    }
  }

  private var missingCode: EnhancedCode {
    self == .toPreauthorize ? .preauthorizationSessionMissing : .authenticationSessionMissing
  }

  private var expiredCode: EnhancedCode {
    self == .toPreauthorize ? .preauthorizationSessionExpired : .authenticationSessionExpired
  }
}
