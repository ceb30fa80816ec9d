public import RegentPairing

/// The stored row of a registration code.
///
/// The row signature covers all columns. The column `public_key` holds ``rowKey``; `expires` holds the expiry of the
/// flow.
public struct RegistrationRecord: Hashable, Sendable {
  /// The state of the code.
  ///
  /// It is the first field because a poll reads nothing else: so it lies next to the header of the object that holds
  /// the record, in memory that the poll loads anyway.
  public internal(set) var flow: PairingFlow
  /// The id that lists, logs and pages use instead of the secret code.
  public let id: RegistrationID
  public let code: CodeHash
  /// The requestor whose app asked for the code.
  ///
  /// The code is unknown to every other requestor.
  public let requestor: RequestorID
  /// The device id as the app sent it, for responses.
  public let device: DeviceID
  /// The hash by which the device's registrations are found.
  public let deviceHash: DeviceHash
  /// The requestor's `rows` key pair, whose secret signs this row.
  public let rowKey: PublicKey
  /// The provider that the viewer chose on the device, if the app asked there.
  public let preselected: ProviderID?
  /// The profile of the integration that the app asked for.
  public let profile: ProfileName?
  public let about: DeviceDescription

  public init(
    id: RegistrationID, code: CodeHash, requestor: RequestorID, device: DeviceID,
    deviceHash: DeviceHash, rowKey: PublicKey, preselected: ProviderID? = nil,
    profile: ProfileName? = nil, about: DeviceDescription = DeviceDescription(), flow: PairingFlow
  ) {
    self.id = id
    self.code = code
    self.requestor = requestor
    self.device = device
    self.deviceHash = deviceHash
    self.rowKey = rowKey
    self.preselected = preselected
    self.profile = profile
    self.about = about
    self.flow = flow
  }

  /// A copy with another state.
  ///
  /// A store writes only the columns of the flow for it, never the whole row.
  public func moved(to flow: PairingFlow) -> RegistrationRecord {
    var moved = self
    moved.flow = flow
    return moved
  }
}

extension Collection<RegistrationRecord> {
  /// The registration that determines the response to the device when it has several: the first pending one, else the
  /// newest.
  public func answering(at now: Instant) -> RegistrationRecord? {
    first { $0.flow.settled(at: now).state.isPending }
      ?? self.max { ($0.flow.issued, $0.id) < ($1.flow.issued, $1.id) }
  }
}

/// The result of a verb that changed a registration.
public struct RegistrationChange: Hashable, Sendable {
  /// The registration after the change.
  public let record: RegistrationRecord
  /// What the service must do now that the change is durable, such as waking waiting requests.
  ///
  /// Empty when no client can see the change.
  public let actions: [PairingAction]

  public init(record: RegistrationRecord, actions: [PairingAction]) {
    self.record = record
    self.actions = actions
  }
}
