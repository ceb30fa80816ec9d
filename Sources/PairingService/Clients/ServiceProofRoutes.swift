internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPairingWire

/// Proves to a box that this is the service at which the box was enrolled, so that the box may use its new address.
struct ServiceProofRoutes: Sendable {
  let core: ServiceCore

  func mount(_ routes: inout Routes) {
    routes.post(Paths.boxService) { [core] request, _ in
      do throws(CallError) {
        try core.limits.take(request.clientAddress)
        var response = Response(.ok, type: "application/json", body: try prove(request).bytes)
        response.addHeader(.cacheControl, "no-store")
        return .now(response)
      } catch {
        return .now(EnrolmentRoutes.refusal(error, core.storeTrouble))
      }
    }
  }

  /// An unknown key and a key that is not in use get the same response.
  private func prove(_ request: Request) throws(CallError) -> ServiceProof {
    guard let asked = ServiceProofRequest(request.body) else { throw CallError(.badRequest) }
    let service = core.options.publicURL
    guard let pair = core.provisioning.now.records.keyPairs[asked.publicKey], pair.purpose == .calls,
      pair.state != .revoked, let key = try? HMACKey(.sha256, Secret(pair.secret))
    else { throw CallError(.forbidden) }
    return ServiceProof(service: service, proof: key.code(asked.message(service)))
  }
}
