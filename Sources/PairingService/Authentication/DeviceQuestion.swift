internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// The data of a device's poll that is needed to answer it later.
///
/// During a long poll, only this is kept of the request. The request itself, with its head, texts and buffers, is many
/// times larger, and 20,000 boxes may wait at a time.
struct DeviceQuestion: Sendable {
  let device: CallDevice
  let requestor: RequestorID
  /// The owner (key pair or application) whose sign-ins this request may see.
  let owner: SignInOwner
  let place: Waiters.Resource
  let format: WireFormat
  let named: ProviderID?
  private let origin: Origin

  private enum Origin: Sendable {
    case call(V1Call)
    /// The request was freed from memory, because it became a long poll.
    ///
    /// The device's report about itself is read from the record of the given code.
    case held(RegistrationID, ProfileName?, IPAddress?)
  }

  init(_ call: V1Call, _ device: CallDevice, _ place: Waiters.Resource) throws(CallError) {
    self.init(
      device: device, requestor: call.requestor.id, owner: call.owner, place: place, format: call.format,
      named: try call.namedProvider(), origin: .call(call))
  }

  private init(
    device: CallDevice, requestor: RequestorID, owner: SignInOwner, place: Waiters.Resource, format: WireFormat,
    named: ProviderID?, origin: Origin
  ) {
    self.owner = owner
    self.device = device
    self.requestor = requestor
    self.place = place
    self.format = format
    self.named = named
    self.origin = origin
  }

  /// A copy of this poll's data without the request, to keep during a long poll for a code.
  func held(for code: RegistrationID) throws(CallError) -> DeviceQuestion {
    guard case .call(let call) = origin else { return self }
    return DeviceQuestion(
      device: device, requestor: requestor, owner: owner, place: place, format: format, named: named,
      origin: .held(code, try call.profile(), call.request.clientAddress))
  }

  /// The device as it is signed in without a code.
  func newcomer(_ codes: LiveCodes) throws(CallError) -> Newcomer {
    switch origin {
    case .call(let call): return try call.newcomer(device)
    case .held(let code, let profile, let address):
      var about = codes.find(code)?.about ?? DeviceDescription(address: address?.description)
      about.owner = owner.name
      return Newcomer(
        requestor: requestor, device: device, profile: profile, address: address, about: about)
    }
  }
}
