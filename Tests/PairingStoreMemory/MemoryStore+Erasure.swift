public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func rows(about viewer: Viewer, screen: @escaping ScreenHasher) async throws(StoreError) -> ViewerRows {
    found(viewer, screen)
  }

  private func found(_ viewer: Viewer, _ screen: ScreenHasher) -> ViewerRows {
    var found = ViewerRows()
    guard let name = viewer.account else { return found }
    found.account = accounts[viewer.provider]?[name]
    found.hasPassword = passwords[viewer.provider]?[name] != nil
    found.rules = (records.entitlements[viewer.provider] ?? []).filter { $0.scope == .account(name) }
      .sorted { $0.id < $1.id }
    found.sessions = sessions.values.filter { $0.viewer == viewer }.sorted { $0.id < $1.id }
    found.signIns = authentications.values.filter { $0.authentication.viewer == viewer }
      .sorted { $0.authentication.id < $1.authentication.id }
    for record in found.signIns {
      let id = record.authentication.id
      found.permits += (permits[id] ?? [:]).values.sorted { $0.permit.resource < $1.permit.resource }
      found.grants += grants.values.filter { $0.authentication == id }.sorted { $0.id < $1.id }
      found.boxes += boxes.values.filter { $0.authentication == id }.sorted { $0.id < $1.id }
      found.screenNames[screen(record)] = names[screen(record)]
    }
    let devices = Set(found.signIns.map(\.deviceHash))
    found.decisions = permissions.filter { devices.contains($0.device) }
    found.codes = registrations.values.filter { viewer == $0.flow.state.viewer }.sorted { $0.id < $1.id }
    for (subject, failures) in failures {
      switch subject {
      case .account(viewer.provider, name): found.failures.append(.init(source: nil, failures: failures))
      case .accountFrom(let source, viewer.provider, name):
        found.failures.append(.init(source: source.text, failures: failures))
      default: break
      }
    }
    // A dictionary lists its keys in an order that changes when others are removed.
    found.failures.sort { ($0.source ?? "") < ($1.source ?? "") }
    return found
  }

  public func auditLines(about viewer: Viewer, after number: Int64, limit: Int) async throws(StoreError)
    -> [NumberedAuditEntry]
  {
    try await audit(after: number, limit: .max).filter { $0.entry.names(viewer) }.prefix(limit).map(\.self)
  }

  public func erase(
    _ viewer: Viewer, screen: @escaping ScreenHasher, audit line: AuditEntry, at now: Instant
  ) async throws(StoreError) -> ErasedRows {
    let found = found(viewer, screen)
    guard let name = viewer.account, !found.isEmpty else { return ErasedRows(rows: found, changes: []) }
    let changes = removeAccount(viewer.provider, name, at: now)
    for place in found.screenNames.keys { names[place] = nil }
    let others = Set(authentications.values.map(\.deviceHash))
    let devices = Set(found.decisions.map(\.device)).subtracting(others)
    permissions.removeAll { devices.contains($0.device) }
    for record in registrations.values where viewer == record.flow.state.viewer {
      registrations[record.id] = nil
      codes[record.code] = nil
      changed(.code(record.id))
    }
    failures = failures.filter { subject, _ in
      switch subject {
      case .account(viewer.provider, name), .accountFrom(_, viewer.provider, name): false
      default: true
      }
    }
    note(line)
    return ErasedRows(rows: found, changes: changes)
  }

  public func pseudonymise(
    _ viewer: Viewer, as name: AccountName, after number: Int64, limit: Int,
    audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)? {
    let found = try await auditLines(about: viewer, after: number, limit: limit)
    guard let last = found.last?.number else { return nil }
    for one in found { log[Int(one.number) - forgotten - 1] = one.entry.pseudonymised(viewer, as: name) }
    note(line(found.count))
    return (found.count, last)
  }

  public func eraseDetails(
    ofDevices devices: Set<String>, after number: Int64, limit: Int, audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)? {
    let found = try await audit(after: number, limit: .max).filter { $0.entry.isAbout(devices: devices) }.prefix(limit)
    guard let last = found.last?.number else { return nil }
    for one in found { log[Int(one.number) - forgotten - 1] = one.entry.withoutDetail }
    note(line(found.count))
    return (found.count, last)
  }
}

extension PairingState {
  /// The viewer who has opened or approved the code.
  fileprivate var viewer: Viewer? {
    if case .claimed(let lease) = self { lease.claimer.viewer } else { approval?.viewer }
  }
}
