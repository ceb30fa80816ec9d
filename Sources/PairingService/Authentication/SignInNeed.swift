package import RegentPairing
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentPairingWire

/// What a sign-in is needed for, which decides how its absence is answered: the protocol has three ways.
package enum SignInNeed: Sendable {
  /// `authorize` and `tokens/media`: 403.
  case toWatch
  /// `tokens/authz` and `tokens/usermetadata`: 412.
  case toRead
  /// `preauthorize`: 412, with codes of its own.
  case toPreauthorize
}

extension SignInNeed {
  /// Nobody is signed in on the device.
  package var missing: CallError { error(missingCode, details: nil) }

  /// Somebody was, and it does not count any more.
  package func refused(_ refusal: AuthenticationRefusal) -> CallError {
    switch (refusal, self) {
    case (.expired, _): error(expiredCode, details: refusal.description)
    // Only the 403 has a code for it; for the others it is as if nobody were signed in.
    case (_, .toWatch): error(.authenticationSessionInvalidated, details: refusal.description)
    default: error(missingCode, details: refusal.description)
    }
  }

  /// A guest's pass has run out, and the sign-in with it.
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
