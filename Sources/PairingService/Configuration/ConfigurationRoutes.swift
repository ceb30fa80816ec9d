package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPairingWire

/// The endpoint that lists the providers an app may offer.
package struct ConfigurationRoutes: Sendable {
  private let endpoints: V1Endpoints
  private let core: ServiceCore

  private let signature: RequestorSignature

  package init(_ core: ServiceCore) {
    self.core = core
    endpoints = V1Endpoints(core)
    signature = RequestorSignature(core.missingCertificates)
  }

  package func mount(_ routes: inout Routes) {
    endpoints.mount(&routes, [.get], "/api/v1/config/{requestor}") { call throws(CallError) in
      try signature.check(call)
      if let device = call.deviceIfNamed { core.boxClocks.note(call.request, of: device.hash, at: core.clock.uptime) }
      let information = try call.deviceInformation()
      let choices = call.provisioned.choices[call.requestor.id] ?? []
      return .reply(
        call.reply(
          ConfigDocument(
            device: information[.primaryHardwareType] ?? "unknown",
            clientType: "rest", operatingSystem: information[.osName] ?? "unknown",
            requestor: call.requestor.id.text, name: call.requestor.name,
            domains: call.requestor.domains, exposesDeviceID: call.requestor.exposesDeviceID,
            providers: choices.map(\.listed))))
    }
  }
}

extension ProvisioningSnapshot.Choice {
  fileprivate var listed: ListedProvider {
    ListedProvider(
      id: provider.id.text, displayName: provider.name, logoURL: provider.logo,
      isTemporaryPass: provider.temporaryPass != nil, boarding: provider.boarding,
      platformID: provider.platformID, enablesPlatformServices: integration.singleSignOn,
      isFeatured: provider.featured, wantsSecureSheet: provider.secureSheet,
      wantsIdentity: provider.temporaryPass?.promotional == true)
  }
}
