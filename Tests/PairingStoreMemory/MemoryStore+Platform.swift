public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func enrol(_ box: BoxRecord, at now: Instant) async throws(StoreError) -> BoxRecord {
    guard try standingNow(box.authentication, at: now) != nil else { throw .notFound(what: "authentication") }
    if let there = boxes.values.first(where: { $0.authentication == box.authentication }) { return there }
    boxes[box.id] = box
    return box
  }

  public func box(_ id: BoxID, at now: Instant) async throws(StoreError) -> BoxRecord? {
    guard let box = boxes[id], authentications[box.authentication]?.authentication.isValid(at: now) == true
    else { return nil }
    return box
  }

  public func box(of authentication: AuthenticationID) async throws(StoreError) -> BoxRecord? {
    boxes.values.first { $0.authentication == authentication }
  }

  public func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> ValidSignIn {
    guard usedRequests[exchange.request] == nil else { throw .exchange(.used) }
    guard let box = boxes[exchange.box], box.key == exchange.key,
      let parent = authentications[box.authentication], parent.authentication.isValid(at: now),
      exchange.mayUse(parent), records.requestors[parent.authentication.requestor]?.isPlatform == true,
      (try? context(of: parent).standing(parent)) != nil
    else { throw .exchange(.parent) }
    let decision = decision(parent.deviceHash, exchange.app, exchange.requestor)
    guard decision?.refuses(whatIsFrom: exchange.requestMade) != true else { throw .exchange(.permission) }
    let device = place(exchange.requestor, exchange.deviceHash, exchange.about, at: now)
    let found = context(
      parent.authentication.viewer, exchange.requestor, rowKey: exchange.rowKey, device: device, identity: nil)
    var signIn = try found.authentication(for: exchange, parent: parent, at: now)
    signIn.record = signIn.record.stored(under: device)
    usedRequests[exchange.request] = exchange.requestEnds
    if let there = regularSignInThatStands(beside: signIn.record, at: now) { return there }
    keep(signIn.record)
    let all = childrenNow(of: parent.authentication.id, at: now).sorted {
      ($0.authentication.issued, $0.authentication.id) > ($1.authentication.issued, $1.authentication.id)
    }
    let ofApp = all.filter { $0.authentication.parent?.app == exchange.app }
    let beyond = Set(
      (ofApp.dropFirst(BoxOverview.mostOfApp) + all.dropFirst(BoxOverview.mostOfBox)).map(\.authentication.id))
    _ = endAuthentications { beyond.contains($0.authentication.id) }
    return signIn
  }

  public func decide(
    _ decision: PlatformPermissionRecord, signed: UsedText?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Bool {
    if let signed, usedRequests[signed.id] != nil { return false }
    let change = try PermissionChange(decision, among: decided(decision.device), at: now)
    if let signed { usedRequests[signed.id] = signed.ends }
    guard let change else { return false }
    permissions.removeAll { there in
      [change.kept, change.forgotten].contains { gone in
        gone.map { $0.device == there.device && $0.app == there.app && $0.requestor == there.requestor } ?? false
      }
    }
    permissions.append(change.kept)
    changed(.box(decision.device))
    if change.isNew { note(entry) }
    return true
  }

  public func decisions(of device: DeviceHash) async throws(StoreError) -> [PlatformPermissionRecord] {
    decided(device)
  }

  private func decided(_ device: DeviceHash) -> [PlatformPermissionRecord] {
    permissions.filter { $0.device == device }.sorted {
      $0.app == $1.app ? $0.requestor < $1.requestor : $0.app < $1.app
    }
  }

  public func boxes(after id: BoxID?, limit: Int, at now: Instant) async throws(StoreError) -> [BoxOverview] {
    let meant = boxes.values.filter { box in id.map { $0 < box.id } ?? true }.sorted { $0.id < $1.id }
    return Array(
      meant.compactMap { box -> BoxOverview? in
        guard let signIn = authentications[box.authentication], signIn.authentication.isValid(at: now)
        else { return nil }
        return BoxOverview(box: box, signIn: signIn, apps: childrenNow(of: box.authentication, at: now))
      }.prefix(limit))
  }

  public func children(of parent: AuthenticationID, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    childrenNow(of: parent, at: now)
  }

  private func childrenNow(of parent: AuthenticationID, at now: Instant) -> [AuthenticationRecord] {
    authentications.values.filter {
      $0.authentication.parent?.id == parent && $0.authentication.isValid(at: now)
    }.sorted { $0.authentication.id < $1.authentication.id }
  }

  private func decision(
    _ device: DeviceHash, _ app: String, _ requestor: RequestorID
  ) -> PlatformPermissionRecord? {
    permissions.first { $0.device == device && $0.app == app && $0.requestor == requestor }
  }

  /// Why an app's sign-in is refused because of the box's sign-in, or because the viewer denied the app.
  func refusal(
    ofParent parent: ParentSignIn, of record: AuthenticationRecord
  ) throws(StoreError) -> AuthenticationRefusal? {
    guard let box = box(of: parent, lettingIn: record) else { return .parentEnded }
    return try context(of: box).pauseOrEnd(ofParent: box)
  }

  /// The box's sign-in, if it exists and the viewer has not denied the app since.
  private func box(of parent: ParentSignIn, lettingIn record: AuthenticationRecord) -> AuthenticationRecord? {
    let app = record.authentication
    guard let box = authentications[parent.id], box.authentication.source == .regular,
      box.authentication.viewer == app.viewer,
      decision(box.deviceHash, parent.app, app.requestor)?.refuses(whatIsFrom: app.issued) != true
    else { return nil }
    return box
  }

  /// Whether lists show an app's sign-in.
  ///
  /// They hide it once the box has signed out or the viewer has denied the app.
  func isListed(_ record: AuthenticationRecord, at now: Instant) -> Bool {
    guard let parent = record.authentication.parent else { return true }
    return box(of: parent, lettingIn: record)?.authentication.isValid(at: now) == true
  }

  private func regularSignInThatStands(beside record: AuthenticationRecord, at now: Instant) -> ValidSignIn? {
    let there = authentications.values.first {
      $0.authentication.requestor == record.authentication.requestor && $0.deviceHash == record.deviceHash
    }
    guard let there, there.authentication.source == .regular, there.authentication.isValid(at: now) else { return nil }
    return try? context(of: there).standing(there)
  }
}
