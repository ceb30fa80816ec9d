package import RegentPairing
package import PairingStore
package import RegentPairingWire
internal import RegentHTTPCodec
internal import HTTPServer

extension V1Call {
  /// What the device reports about itself, to be stored with its code or sign-in.
  package func deviceDescription() throws(CallError) -> DeviceDescription {
    let information = try deviceInformation()
    return DeviceDescription(
      name: information.displayName, information: information.normalizedJSON,
      userAgent: request.header(.userAgent).flatMap { CleanText.line($0) },
      address: request.clientAddress.map(\.description),
      visitorID: try visitorID(),
      older: OlderDeviceFields(
        deviceType: try clean(Field.deviceType), deviceUser: try clean(Field.deviceUser),
        appID: try clean(Field.appID), appVersion: try clean(Field.appVersion),
        registrationURL: try clean(Field.registrationURL)),
      // Texts of the app that cannot be read are left out, like the rest of what a device reports about itself.
      options: AppTexts.normalized(parameters.others), owner: owner.name
    ).shortened()
  }

  /// The id that the app's analytics uses for the viewer, as a parameter or header of any call.
  func visitorID() throws(CallError) -> String? {
    var visitor = try parameters.value(Field.visitorID)
    if visitor == nil { visitor = header(PairingHeader.visitorID) }
    return visitor.flatMap { CleanText.line($0) }
  }

  /// The data that the app sent when it asked for the code.
  ///
  /// It is stored with the code, shown to operators and returned to the device.
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

  /// Whether the request comes from the device that created the code.
  ///
  /// A client that knows that device's id could replace the code anyway.
  package func isOwner(of record: RegistrationRecord) -> Bool {
    guard let device = deviceIfNamed?.hash, owner.owns(record.about) else { return false }
    return device == record.deviceHash || record.about.owner.map(device.separate(for:)) == record.deviceHash
  }

  /// The owner (key pair, application or client) of codes and sign-ins that this request creates.
  ///
  /// Only this owner may use them later.
  var owner: SignInOwner {
    switch caller {
    case .keyPair(_, let pair): SignInOwner(pair, among: provisioned.records.keyPairs)
    case .client(_, _, let application): SignInOwner(application)
    // Sign-ins of OAuth grants have device ids of their own, and their rows name no owner.
    case .grant(_, let client, _): SignInOwner(client)
    }
  }

  /// The client whose request waits for the code: the code's own device, or another client, known by its network
  /// address.
  package func side(of record: RegistrationRecord) -> Waiters.Caller {
    isOwner(of: record) ? .owner : .other(SourceKey(request.clientAddress))
  }
}

/// Builds the document about a code for one client.
///
/// It holds all data of the request that is needed, so that the request can be freed during a long poll.
package struct CodeReader: Sendable {
  let isOwner: Bool
  package let format: WireFormat
  /// The id of the caller's software statement, if the caller is a registered client.
  private let statement: StatementID?

  package init(_ call: V1Call, isOwner: Bool) {
    self.isOwner = isOwner
    format = call.format
    statement = if case .client(_, _, let statement) = call.caller { statement } else { nil }
  }

  /// The document about a code as this client may read it.
  ///
  /// Only the device that created the code gets these members: the device id, with which all its requests are made; the
  /// id of the record, because an app may have taken it as its device id; and the number for number matching, which
  /// proves that the phone and the screen are in one room. An attacker who has seen the code on the screen and has the
  /// app's secret, as every box does, must not get any of them. Other clients get another id.
  package func document(
    _ record: RegistrationRecord, _ code: RegistrationCode, _ core: ServiceCore, at now: Instant
  ) -> RegcodeDocument {
    let link = VerificationLink(
      publicURL: core.options.publicURL, code: code, secret: core.hasher.linkSecret(code))
    let flow = record.flow.settled(at: now)
    return RegcodeDocument(
      id: isOwner ? record.id.text : core.hasher.publicID(of: record.id), code: code.wire,
      requestor: record.requestor.text,
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
