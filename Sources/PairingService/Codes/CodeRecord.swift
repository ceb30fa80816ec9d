package import RegentPairing
package import PairingStore
package import RegentPairingWire
internal import RegentHTTPCodec
internal import HTTPServer

extension V1Call {
  /// What the device of this call says of itself, to be kept with its code or sign-in.
  package func deviceDescription() throws(CallError) -> DeviceDescription {
    let information = try deviceInformation()
    var visitor = try parameters.value(Field.visitorID)
    if visitor == nil { visitor = header(PairingHeader.visitorID) }
    return DeviceDescription(
      name: information.displayName, information: information.normalizedJSON,
      userAgent: request.header(.userAgent).flatMap { CleanText.line($0) },
      address: request.clientAddress.map(\.description),
      visitorID: visitor.flatMap { CleanText.line($0) },
      older: OlderDeviceFields(
        deviceType: try clean(Field.deviceType), deviceUser: try clean(Field.deviceUser),
        appID: try clean(Field.appID), appVersion: try clean(Field.appVersion),
        registrationURL: try clean(Field.registrationURL)))
  }

  private func clean(_ name: String) throws(CallError) -> String? {
    try parameters.value(name).flatMap { CleanText.line($0, longest: 1024) }
  }

  /// The record of a code as this caller reads it.
  package func document(
    _ record: RegistrationRecord, _ code: RegistrationCode, _ options: ServiceOptions,
    at now: Instant
  ) -> RegcodeDocument {
    let link = VerificationLink(publicURL: options.publicURL, code: code)
    let flow = record.flow.settled(at: now)
    return RegcodeDocument(
      id: record.id.text, code: code.wire, requestor: record.requestor.text,
      provider: record.preselected?.text, generated: flow.issued, expires: flow.expires,
      info: info(record), status: flow.status(at: now), sequence: flow.sequence,
      match: flow.visibleMatch(at: now)?.number, verificationURL: link.url,
      verificationURLComplete: link.complete)
  }

  private func info(_ record: RegistrationRecord) -> RegcodeInfo {
    let about = record.about
    let older = about.older
    return RegcodeInfo(
      deviceID: record.device.text, deviceInformation: about.information,
      userAgent: about.userAgent, originalUserAgent: about.userAgent,
      authorizationType: application == nil ? nil : "OAUTH2", application: application,
      older: older.isEmpty
        ? nil
        : RegcodeInfo.Older(
          deviceType: older.deviceType, deviceUser: older.deviceUser, appID: older.appID,
          appVersion: older.appVersion, registrationURL: older.registrationURL))
  }

  private var application: RegcodeInfo.Application? {
    guard case .client(_, _, let statement) = caller,
      let record = provisioned.records.applications[statement]
    else { return nil }
    return RegcodeInfo.Application(id: record.id.text, name: record.name, version: "")
  }
}
