package import RegentHTTPCodec
package import HTTPServer
package import RegentPairing
package import PairingStore
package import RegentPairingWire
internal import RegentPlatform

/// A call of protocol V1 by somebody who may call: format, parameters and requestor are settled.
///
/// An object, because it is handed on many times and has dozens of parts to copy.
package final class V1Call: Sendable {
  package let request: Request
  /// What the path captured.
  package let path: PathParameters
  /// The form of the answer.
  package let format: WireFormat
  /// Query and form.
  package let parameters: CallParameters
  package let caller: Caller
  /// For whose app.
  package let requestor: Requestor
  /// What operators made, as of this call.
  package let provisioned: ProvisioningSnapshot
  /// The time of this call.
  package let now: Instant
  /// For how many seconds the caller would like to be held, if it says so.
  package let preferredWait: Int?
  private let hasher: KeyedHasher
  private let knownDevice: CallDevice?

  init(
    request: Request, _ words: V1Words, caller: Caller, requestor: Requestor, provisioned: ProvisioningSnapshot,
    now: Instant, hasher: KeyedHasher, device: CallDevice?
  ) {
    // A call may wait for a minute: it does not keep alive what its connection remembers.
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

/// The device that a call is about.
package struct CallDevice: Hashable, Sendable {
  package let id: DeviceID
  /// What it is found by.
  package let hash: DeviceHash
}

extension V1Call {
  /// The device that the call is about.
  package func device() throws(CallError) -> CallDevice {
    if let knownDevice { return knownDevice }
    guard try parameters.value(Field.deviceID) != nil else {
      throw .missing(Field.deviceID, code: .invalidDeviceID)
    }
    throw CallError(
      .badRequest, details: "\(Field.deviceID) must be text of at most 512 bytes",
      code: .invalidDeviceID)
  }

  /// The device, when the call names one.
  package var deviceIfNamed: CallDevice? { knownDevice }

  /// What is to be watched.
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

  /// The integration's profile that the app asks for.
  package func profile() throws(CallError) -> ProfileName? {
    try parameters.value(Field.applicationProfile).flatMap { ProfileName($0) }
  }

  /// What the device says of itself, from the header or the parameter, else from its User-Agent.
  ///
  /// What cannot be read is never an error: public clients send all sorts of things.
  package func deviceInformation() throws(CallError) -> DeviceInformation {
    var given = header(PairingHeader.deviceInfo)
    if given == nil { given = try parameters.value(Field.deviceInfo) }
    let information = given.flatMap { DeviceInformation(reading: $0) } ?? DeviceInformation()
    return information.completed(byUserAgent: request.header(.userAgent))
  }

  /// A header of the protocol, if it is there once.
  package func header(_ name: String) -> String? {
    guard let name = HeaderName(name) else { return nil }
    return try? request.singleHeader(name)
  }

  /// An answer with a document.
  package func reply(_ document: some WireDocument, _ status: Status = .ok) -> V1Reply {
    V1Reply(status, document, format)
  }

  /// The code in the path.
  package func code(_ name: String = "code") -> RegistrationCode? {
    try? RegistrationCode(typed: path[name])
  }

  /// Whose requests are counted: the device's, on calls by code that name none the code's.
  var subject: RequestLimits.Subject? {
    if let device = deviceIfNamed { return .device(device.hash) }
    let code = path[ifCaptured: "code"].flatMap { try? RegistrationCode(typed: $0) }
    return code.map { .code(hash($0), SourceKey(request.clientAddress)) }
  }

  /// What a code is kept under.
  package func hash(_ code: RegistrationCode) -> CodeHash { hasher.code(code) }
}

/// An answer of protocol V1.
package struct V1Reply: Sendable {
  /// The response as the engine sends it.
  package var response: Response

  /// An answer without a body.
  package static let noContent = V1Reply(response: Response(.noContent))

  init(response: Response) { self.response = response }

  /// An answer with a document in one of the two forms.
  package init(_ status: Status, _ document: some WireDocument, _ format: WireFormat) {
    response = Response(status, body: document.bytes(as: format))
    response.addHeader(.contentType, format.contentType)
  }
}
