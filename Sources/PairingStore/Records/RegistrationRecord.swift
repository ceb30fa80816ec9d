public import RegentPairing

/// The stored row of a registration code.
///
/// The row signature covers all columns. The column `public_key` holds ``rowKey``; `expires` holds the time at which
/// the code expires.
public struct RegistrationRecord: Hashable, Sendable {
  /// The state of the registration code.
  ///
  /// It is the first field because a poll reads nothing else. It thus lies next to the object's header, in memory that
  /// the poll loads anyway.
  public internal(set) var flow: PairingFlow
  /// The registration's id, which lists, logs and pages use instead of the secret code.
  public let id: RegistrationID
  public let code: CodeHash
  /// The requestor whose app asked for the code.
  ///
  /// For every other requestor the code does not exist.
  public let requestor: RequestorID
  /// The device id as the app sent it, for responses.
  public let device: DeviceID
  /// The keyed hash of the device id, by which the device's registrations are found.
  public internal(set) var deviceHash: DeviceHash
  /// The requestor's key pair for signing database rows.
  ///
  /// Its secret signs this row.
  public let rowKey: PublicKey
  /// The provider that the viewer chose on the device, if the app asked for it there.
  public let preselected: ProviderID?
  /// The name of the integration's profile (a set of lifetimes and rules) that the app asked for.
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

  /// A copy of the registration with another state of its flow.
  ///
  /// To save it, a store writes only the columns of the flow, never the whole row.
  public func moved(to flow: PairingFlow) -> RegistrationRecord {
    var moved = self
    moved.flow = flow
    return moved
  }

  /// A copy that is stored under the hash for its owner alone; see ``SignInOwner``.
  public var separated: RegistrationRecord {
    guard let owner = about.owner else { return self }
    var copy = self
    copy.deviceHash = deviceHash.separate(for: owner)
    return copy
  }
}

extension Collection<RegistrationRecord> {
  /// Of a device's registrations (this array), the one that determines the response to the device: the first pending
  /// one, else the newest.
  public func answering(at now: Instant) -> RegistrationRecord? {
    first { $0.flow.settled(at: now).state.isPending }
      ?? self.max { ($0.flow.issued, $0.id) < ($1.flow.issued, $1.id) }
  }
}

/// The result of a store operation that changed a registration.
public struct RegistrationChange: Hashable, Sendable {
  /// The registration after the change.
  public let record: RegistrationRecord
  /// What the service must do now that the change is durable, for example complete waiting requests.
  ///
  /// Empty when no client can see the change.
  public let actions: [PairingAction]

  public init(record: RegistrationRecord, actions: [PairingAction]) {
    self.record = record
    self.actions = actions
  }
}
