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
        registrationURL: try clean(Field.registrationURL)),
      // Like the rest of what a device says of itself: what cannot be read is no error.
      options: AppTexts.normalized(parameters.others), owner: owner.name)
  }

  /// What the app gave with the call that began to sign in: kept with the code for whoever handles it.
  func signInData() throws(CallError) -> String? {
    guard let given = try parameters.value(Field.genericData), !given.isEmpty else { return nil }
    guard let data = AppTexts.normalized(given) else {
      throw CallError(
        .badRequest,
        details: "\(Field.genericData) must be a JSON object of at most \(AppTexts.mostMembers) texts and "
          + "\(AppTexts.longest) bytes")
    }
    return data == "{}" ? nil : data
  }

  private func clean(_ name: String) throws(CallError) -> String? {
    try parameters.value(name).flatMap { CleanText.line($0, longest: 1024) }
  }

  /// Whether the call is for the device that made a code: whoever knows that device's id could take the code's place
  /// anyway.
  package func isOwner(of record: RegistrationRecord) -> Bool {
    deviceIfNamed?.hash == record.deviceHash && owner.owns(record.about)
  }

  /// To whom belongs what this call makes, and whose sign-in it may use.
  var owner: SignInOwner {
    switch caller {
    case .keyPair(_, let pair): SignInOwner(pair, among: provisioned.records.keyPairs)
    case .client(_, _, let application): SignInOwner(application)
    // Grants have devices of their own, whose rows name no owner.
    case .grant(_, let client, _): SignInOwner(client)
    }
  }

  /// By whom a code is waited for: its own device, or somebody at an address.
  package func side(of record: RegistrationRecord) -> Waiters.Caller {
    isOwner(of: record) ? .owner : .other(SourceKey(request.clientAddress))
  }
}

/// Who reads a code's record, and in which form: all that is left of a call while its answer is held.
package struct CodeReader: Sendable {
  /// Whether it is the device that made the code.
  let isOwner: Bool
  package let format: WireFormat
  /// What a registered client showed for itself.
  private let statement: StatementID?

  package init(_ call: V1Call, isOwner: Bool) {
    self.isOwner = isOwner
    format = call.format
    statement = if case .client(_, _, let statement) = call.caller { statement } else { nil }
  }

  /// The record of a code as this caller reads it.
  ///
  /// The device's id is what all its calls are made with, and the number is the proof that the screen and the phone are
  /// in one room: neither is for somebody who has glimpsed the code, and holds the app's secret as every box does.
  package func document(
    _ record: RegistrationRecord, _ code: RegistrationCode, _ core: ServiceCore, at now: Instant
  ) -> RegcodeDocument {
    let link = VerificationLink(
      publicURL: core.options.publicURL, code: code, secret: core.hasher.linkSecret(code))
    let flow = record.flow.settled(at: now)
    return RegcodeDocument(
      id: record.id.text, code: code.wire, requestor: record.requestor.text,
      provider: record.preselected?.text, generated: flow.issued, expires: flow.expires,
      info: info(record, core.provisioning.now), status: flow.status(at: now), sequence: flow.sequence,
      match: isOwner ? flow.visibleMatch(at: now)?.number : nil, verificationURL: link.url,
      verificationURLComplete: link.complete)
  }

  private func info(_ record: RegistrationRecord, _ provisioned: ProvisioningSnapshot) -> RegcodeInfo {
    let about = record.about
    let application = application(provisioned)
    return RegcodeInfo(
      deviceID: isOwner ? record.device.text : "", deviceInformation: about.information,
      userAgent: about.userAgent, originalUserAgent: about.userAgent,
      authorizationType: application == nil ? nil : "OAUTH2", application: application,
      older: about.older,
      data: isOwner ? about.data : nil)
  }

  private func application(_ provisioned: ProvisioningSnapshot) -> RegcodeInfo.Application? {
    guard let statement, let record = provisioned.records.applications[statement] else { return nil }
    return RegcodeInfo.Application(id: record.id.text, name: record.name, version: "")
  }
}
