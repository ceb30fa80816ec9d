internal import Administration
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

/// Reads, checks and writes the records of one kind that operators change.
struct RecordWriter<Record: OperatorRecord> {
  let title: RecordTitle
  /// The members that identify the record that is written.
  let key: JSONObject
  /// Reads the stored record; nil when there is none.
  let find: @Sendable () async throws(AdminError) -> Record?
  /// Converts the record to the form in which the store takes it.
  let provision: @Sendable (Record) -> Provision
  /// Checks what the types of the record's members do not check.
  var check: @Sendable (Record) throws(AdminError) -> Void = { (_) throws(AdminError) in }
}

extension RecordWriter {
  /// Makes the record to write when an operator adds one.
  ///
  /// If a record with this key exists, it must be equal; otherwise this throws the differences.
  func added(_ patch: Patch<Record>, to there: Record?) throws(AdminError) -> Record {
    guard let there else {
      return try shaped { () throws(JSONShapeError) in try patch.record(key) }
    }
    let wanted = try shaped { () throws(JSONShapeError) in try patch.applied(to: there) }
    let differences = there.differences(to: wanted)
    guard differences.isEmpty else { throw .different(title, differences) }
    return there
  }

  /// Makes the record to write when an operator changes one.
  ///
  /// Throws when no record exists.
  func changed(_ there: Record?, by patch: Patch<Record>) throws(AdminError) -> Record {
    guard let there else { throw .missing(title) }
    return try shaped { () throws(JSONShapeError) in try patch.applied(to: there) }
  }
}

extension AdminCall {
  /// Adds a record.
  ///
  /// If an equal record exists, it stays unchanged. If a different one exists, the request is refused with the
  /// differences.
  func add<Record>(_ patch: Patch<Record>, _ writer: RecordWriter<Record>)
    async throws(AdminError) -> Saved<Record>
  {
    try await save(writer) { (there) throws(AdminError) in try writer.added(patch, to: there) }
  }

  /// Changes the given members of a record that must exist.
  func set<Record>(_ patch: Patch<Record>, _ writer: RecordWriter<Record>)
    async throws(AdminError) -> Saved<Record>
  {
    try await save(writer) { (there) throws(AdminError) in try writer.changed(there, by: patch) }
  }

  /// Changes the given members of a record, or adds the record if it does not exist.
  func put<Record>(_ patch: Patch<Record>, _ writer: RecordWriter<Record>)
    async throws(AdminError) -> Saved<Record>
  {
    try await save(writer) { (there) throws(AdminError) in
      try shaped { () throws(JSONShapeError) in
        guard let there else { return try patch.record(writer.key) }
        return try patch.applied(to: there)
      }
    }
  }

  /// Writes the record that `want` makes from the stored one.
  ///
  /// It tries again when another writer has changed the stored record meanwhile.
  private func save<Record>(
    _ writer: RecordWriter<Record>, _ want: (Record?) throws(AdminError) -> Record
  ) async throws(AdminError) -> Saved<Record> {
    var attempts = 3
    while true {
      let there = try await writer.find()
      let wanted = try want(there)
      if let there, there == wanted { return Saved(there, .unchanged) }
      try writer.check(wanted)
      let outcome = there == nil ? SaveOutcome.added : .changed
      let line = entry(saving: wanted, over: there, writer.title)
      do throws(StoreError) {
        let changes = try await core.store.put(
          writer.provision(wanted), replacing: there.map(writer.provision), audit: line, at: now)
        core.codeTransitions.settle(changes)
      } catch {
        attempts -= 1
        guard case .changedMeanwhile = error, attempts > 0 else { throw AdminError(error) }
        try await refresh()
        continue
      }
      try await refresh()
      return Saved(wanted, outcome)
    }
  }

  /// Makes the audit entry for writing a record.
  func entry<Record: OperatorRecord>(
    saving wanted: Record, over there: Record?, _ title: RecordTitle, also more: String? = nil
  ) -> AuditEntry {
    let changed = (there?.differences(to: wanted).map(\.named) ?? []) + (more.map { [$0] } ?? [])
    return entry(
      "\(title.kind).\(there == nil ? "add" : "set")", title.name, detail: changed.joined(separator: ", "))
  }

  /// Reloads the provisioning records (those that operators make) that routes read from memory.
  func refresh() async throws(AdminError) {
    try await stored { () throws(StoreError) in try await core.refreshProvisioning() }
  }

  /// Removes a record and everything that depends on it.
  func remove(_ id: ProvisionID, _ title: RecordTitle) async throws(AdminError) -> AdminReply {
    let line = entry("\(id.kind).remove", title.name)
    do throws(StoreError) {
      let changes = try await core.store.remove(id, audit: line, at: now)
      core.codeTransitions.settle(changes)
    } catch {
      guard case .notFound = error else { throw AdminError(error) }
      throw .missing(title)
    }
    try await refresh()
    return .done
  }
}

extension Difference {
  /// The member's name for the audit log: `name`, or `disabled=off`.
  ///
  /// A Boolean member is written with its new value, because its bare name would suggest that it is now on.
  fileprivate var named: String {
    guard case .bool(let isOn)? = wanted ?? stored else { return member }
    return "\(member)=\(isOn && wanted != nil ? "on" : "off")"
  }
}

extension AdminError {
  /// The error when an operator adds a record and one with other content exists.
  fileprivate static func different(_ title: RecordTitle, _ differences: [Difference]) -> AdminError {
    let sentences = differences.map { difference in
      switch (difference.stored, difference.wanted) {
      case (let stored?, let wanted?): "\(difference.member) is \(stored), not \(wanted)"
      case (let stored?, nil): "\(difference.member) is \(stored), but was not given"
      case (nil, let wanted?): "\(difference.member) is not set, but \(wanted) was given"
      case (nil, nil): difference.member
      }
    }
    return AdminError(
      .different,
      "\(title) already exists with other values: \(sentences.joined(separator: "; "))",
      hint: "to change it, run regentctl \(title.kind) set", differences: differences)
  }
}
