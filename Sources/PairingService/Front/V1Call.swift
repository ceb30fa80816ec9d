package import RegentHTTPCodec
package import HTTPServer
package import RegentPairing
package import PairingStore
package import RegentPairingWire
internal import RegentPlatform

/// A request of protocol V1 whose format, parameters, sender and requestor are known.
///
/// It is a class because it is passed on many times and has dozens of fields to copy.
package final class V1Call: Sendable {
  package let request: Request
  /// The parts of the URL path that the route captured.
  package let path: PathParameters
  package let format: WireFormat
  /// The parameters of the request, from the query and the form.
  package let parameters: CallParameters
  package let caller: Caller
  /// The requestor whose app sent the request.
  package let requestor: Requestor
  /// The provisioning records (those that operators make) as they were when the request arrived.
  package let provisioned: ProvisioningSnapshot
  /// The time at which the request arrived.
  package let now: Instant
  /// The length of the long poll in seconds that the client asked for (`Prefer: wait`); nil without one.
  package let preferredWait: Int?
  private let hasher: KeyedHasher
  private let knownDevice: CallDevice?

  init(
    request: Request, _ words: V1Words, caller: Caller, requestor: Requestor, provisioned: ProvisioningSnapshot,
    now: Instant, hasher: KeyedHasher, device: CallDevice?
  ) {
    // A request may become a long poll of a minute. It must not retain the poll that its connection remembers.
    self.request = request.forgetting
    path = words.path
    format = words.format
    parameters = words.parameters
    self.caller = caller
    self.requestor = requestor
    self.provisioned = provisioned
    self.now = now
    preferredWait = request.preferredWait
    self.hasher = hasher
    knownDevice = device
  }
}

package struct CallDevice: Hashable, Sendable {
  package let id: DeviceID
  /// The keyed hash of the device id, under which the device's rows are stored.
  package let hash: DeviceHash
}

extension V1Call {
  /// The device that the request names; throws when it is missing or invalid.
  package func device() throws(CallError) -> CallDevice {
    if let knownDevice { return knownDevice }
    guard try parameters.value(Field.deviceID) != nil else {
      throw .missing(Field.deviceID, code: .invalidDeviceID)
    }
    throw CallError(
      .badRequest, details: "\(Field.deviceID) must be text of at most 512 bytes",
      code: .invalidDeviceID)
  }

  package var deviceIfNamed: CallDevice? { knownDevice }

  /// The resource that the viewer wants to watch.
  package func resource(missing status: Status = .badRequest) throws(CallError) -> ResourceID {
    guard let text = try parameters.value(Field.resource) else {
      throw CallError(status, ErrorMessage.required(Field.resource), code: .missingResource)
    }
    guard let resource = ResourceID(text) else {
      throw CallError(
        status, details: "\(Field.resource) must be text of at most 8192 bytes",
        code: .malformedAuthorizationRequest)
    }
    return resource
  }

  /// The profile of the integration (a set of lifetimes and limits) that the app asks for.
  package func profile() throws(CallError) -> ProfileName? {
    try parameters.value(Field.applicationProfile).flatMap { ProfileName($0) }
  }

  /// What the device reports about itself, in the header or the parameter, completed by its `User-Agent`.
  ///
  /// Unreadable information is ignored, because devices in the field send many forms of it.
  package func deviceInformation() throws(CallError) -> DeviceInformation {
    var given = header(PairingHeader.deviceInfo)
    if given == nil { given = try parameters.value(Field.deviceInfo) }
    let information = given.flatMap { DeviceInformation(reading: $0) } ?? DeviceInformation()
    return information.completed(byUserAgent: request.header(.userAgent))
  }

  /// The value of a request header; nil when it is missing or repeated.
  package func header(_ name: String) -> String? {
    guard let name = HeaderName(name) else { return nil }
    return try? request.singleHeader(name)
  }

  package func reply(_ document: some WireDocument, _ status: Status = .ok) -> V1Reply {
    V1Reply(status, document, format)
  }

  package func code(_ name: String = "code") -> RegistrationCode? {
    try? RegistrationCode(typed: path[name])
  }

  /// Whose requests the rate limit counts: the device's, or those for the code when the request names no device.
  var subject: RequestLimits.Subject? {
    if let device = deviceIfNamed { return .device(device.hash) }
    let code = path[ifCaptured: "code"].flatMap { try? RegistrationCode(typed: $0) }
    return code.map { .code(hash($0), SourceKey(request.clientAddress)) }
  }

  /// The keyed hash of a code, under which it is stored.
  package func hash(_ code: RegistrationCode) -> CodeHash { hasher.code(code) }
}

/// A response of protocol V1.
package struct V1Reply: Sendable {
  package var response: Response

  package static let noContent = V1Reply(response: Response(.noContent))

  init(response: Response) { self.response = response }

  /// A response with a document in JSON or XML.
  package init(_ status: Status, _ document: some WireDocument, _ format: WireFormat) {
    response = Response(status, body: document.bytes(as: format))
    response.addHeader(.contentType, format.contentType)
  }
}
