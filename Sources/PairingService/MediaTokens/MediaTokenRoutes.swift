package import HTTPServer
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// Issues short-lived media tokens, which a stream server verifies before it plays.
package struct MediaTokenRoutes: Sendable {
  private let core: ServiceCore
  private let endpoints: V1Endpoints

  package init(_ core: ServiceCore) {
    self.core = core
    endpoints = V1Endpoints(core)
  }

  /// Mounts the endpoint for media tokens under its two paths, and the published key set.
  package func mount(_ routes: inout Routes) {
    endpoints.mount(&routes, [.get], "/api/v1/tokens/media", takesGrants: true, issue)
    endpoints.mount(&routes, [.get], "/api/v1/mediatoken", takesGrants: true, issue)
    KeySet(core).mount(&routes)
  }

  private func issue(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    let resource = try call.requestedResource()
    return .later { [core] in
      let viewer = try await core.signedIn(call, device, for: .toWatch)
      do throws(AuthorizationDenial) {
        try viewer.decide(resource)
      } catch {
        throw CallError(error)
      }
      guard case .inForce = try await core.permit(resource.id, of: viewer) else {
        throw CallError(
          .forbidden, ErrorMessage.notAuthorized, details: "authorize the resource first",
          code: .authorizationNotFound)
      }
      let document = try core.mediaToken(resource.id, for: viewer)
      core.metrics.count(.mediaTokens)
      return call.reply(document)
    }
  }
}

extension ServiceCore {
  /// Makes a media token.
  ///
  /// Nothing of it is stored: it is valid by its signature alone until it expires.
  fileprivate func mediaToken(_ resource: ResourceID, for viewer: SignedInDevice) throws
    -> MediaTokenDocument
  {
    let now = clock.now
    guard let (id, key) = mediaKeys.current(at: now) else {
      log.error("no-signing-key")
      throw CallError(.internalServerError, code: .internalError)
    }
    let userID = userID(of: viewer.record)
    let token = MediaToken(
      sessionGUID: Self.guid(of: userID), requestor: viewer.authentication.requestor.text,
      resource: resource.text, lifetime: options.mediaTokenLifetime, issued: now,
      provider: viewer.provider.id.text, keyID: id.text)
    return MediaTokenDocument(
      resource: token.resource, requestor: token.requestor, expires: token.expires,
      serializedToken: token.serialized(signature: try key.sign(token.element)), userID: userID,
      provider: token.provider)
  }

  /// The hash of a viewer's id in tracking data and media tokens.
  ///
  /// The field is defined as MD5. The hash need not be secure, because the id is a keyed hash itself.
  package static func guid(of userID: String) -> String { Hex.encode(LegacyMD5.hash(userID)) }
}
