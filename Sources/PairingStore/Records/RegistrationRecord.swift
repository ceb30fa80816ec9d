public import RegentPairing

/// The row behind a registration code.
///
/// Signed columns: all of them; `public_key` is ``rowKey``, `expires` the flow's own expiry.
public struct RegistrationRecord: Hashable, Sendable {
  /// Where the code is in its life.
  ///
  /// The first field, because it is all that a poll reads: it lies beside the head of the object that the record is in.
  public internal(set) var flow: PairingFlow
  /// The record's id: what lists, logs and pages use instead of the code.
  public let id: RegistrationID
  public let code: CodeHash
  /// For whose app; a code exists for this requestor only.
  public let requestor: RequestorID
  /// The device, to be echoed.
  public let device: DeviceID
  /// The device, to be found.
  public let deviceHash: DeviceHash
  /// The key pair of the requestor that signs this row.
  public let rowKey: PublicKey
  /// The provider that was chosen on the device.
  public let preselected: ProviderID?
  /// The integration's profile that the app asked for.
  public let profile: ProfileName?
  /// What the device says of itself.
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

  /// The same registration, one step on: a store writes the columns of the flow, never the whole row.
  public func moved(to flow: PairingFlow) -> RegistrationRecord {
    var moved = self
    moved.flow = flow
    return moved
  }
}

extension Collection<RegistrationRecord> {
  /// Of the codes of one device the one that answers for it: the one that waits, else the newest.
  public func answering(at now: Instant) -> RegistrationRecord? {
    first { $0.flow.settled(at: now).state.isPending }
      ?? self.max { ($0.flow.issued, $0.id) < ($1.flow.issued, $1.id) }
  }
}

/// What a verb made of a registration.
public struct RegistrationChange: Hashable, Sendable {
  /// The registration after it.
  public let record: RegistrationRecord
  /// What is to be done now that it is durable; empty when nothing visible happened.
  public let actions: [PairingAction]

  /// A registration and what is to be done about it.
  public init(record: RegistrationRecord, actions: [PairingAction]) {
    self.record = record
    self.actions = actions
  }
}
