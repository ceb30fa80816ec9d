internal import Administration
package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// The endpoints that decide whether a device may watch a resource, and return permits (stored permissions).
package struct AuthorizationRoutes: Sendable {
  private let core: ServiceCore
  private let endpoints: V1Endpoints

  package init(_ core: ServiceCore) {
    self.core = core
    endpoints = V1Endpoints(core)
  }

  package func mount(_ routes: inout Routes) {
    endpoints.mount(&routes, [.get], "/api/v1/authorize", takesGrants: true, authorize)
    endpoints.mount(&routes, [.get], "/api/v1/tokens/authz", takesGrants: true, look)
  }

  // MARK: - A decision

  private func authorize(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    let resource = try call.requestedResource()
    // Data of the app decides nothing, so the request is not refused when the data cannot be read.
    let data = (try? call.signInData()) ?? nil
    return .later {
      let viewer = try await core.signedIn(call, device, for: .toWatch)
      do throws(CallError) {
        let (permit, source) = try await grant(resource, viewer, from: call.request.clientAddress)
        core.metrics.count(.authorizationsGranted)
        var reply = call.reply(document(permit, viewer))
        if let name = source.wireName {
          reply.response.addHeader(HeaderName(known: PairingHeader.decisionSource), name)
        }
        return reply
      } catch {
        if error.status == .forbidden { note(error, resource, viewer, data) }
        throw error
      }
    }
  }

  /// Decides whether the device may watch the resource, and returns the permit.
  ///
  /// The rules are checked even when a permit exists, so that an entitlement that an operator removes ends at once.
  private func grant(
    _ resource: RequestedResource, _ viewer: SignedInDevice, from address: IPAddress?
  ) async throws(CallError) -> (Permit, AuthorizationSource) {
    let source: AuthorizationSource
    do throws(AuthorizationDenial) {
      source = try viewer.decide(resource)
    } catch {
      throw CallError(error)
    }
    return (try await core.permitting(resource.id, to: viewer, from: address), source)
  }

  private func note(
    _ error: CallError, _ resource: RequestedResource, _ viewer: SignedInDevice, _ data: String?
  ) {
    core.metrics.count(.authorizationsDenied)
    // Refusals get one audit line a minute for each device, because an app may try every channel.
    core.audit.note(
      .viewer(viewer.authentication.viewer), "authorization.deny",
      viewer.record.deviceHash.shortName, .refused,
      detail: [
        CleanText.line(resource.name, longest: 128)?.quoted, error.code?.rawValue,
      ].compactMap(\.self).joined(separator: ": ")
        + (data.flatMap { CleanText.line($0, longest: 512) }.map { ", data \($0)" } ?? ""), once: true)
  }

  // MARK: - Permits

  private func look(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    let resource = try call.requestedResource()
    return .later { [core] in
      let viewer = try await core.signedIn(call, device, for: .toRead)
      switch try await core.permit(resource.id, of: viewer) {
      case .inForce(let permit):
        do throws(AuthorizationDenial) {
          try viewer.decide(resource)
        } catch {
          // The device has a permit, but the rules now deny the resource.
          throw CallError(
            .notFound, details: CallError(error).details, code: .authorizationNotFound)
        }
        return call.reply(document(permit, viewer))
      case .expired: throw CallError(.gone, code: .authorizationExpired)
      case .none: throw CallError(.notFound, code: .authorizationNotFound)
      }
    }
  }

  private func document(_ permit: Permit, _ viewer: SignedInDevice) -> AuthorizationDocument {
    AuthorizationDocument(
      provider: viewer.provider.id.text, resource: permit.resource.text,
      requestor: viewer.authentication.requestor.text, expires: permit.expires)
  }
}

extension AuthorizationSource {
  /// The name of who decided, in the newer protocol's header; nil when the provider itself decided.
  fileprivate var wireName: String? {
    switch self {
    case .entitlement, .lineUp: nil
    case .temporaryPass: "temppass"
    case .degradation: "degradation"
    }
  }
}
