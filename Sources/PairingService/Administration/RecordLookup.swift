internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore

// What operators mean by an id: all of it, or a beginning that only one has. The one place that decides it.

extension AdminCall {
  /// The record that a typed id names among those that are in memory.
  ///
  /// - Parameters:
  ///   - what: what is looked for, as messages call it.
  ///   - typed: the id, or at least ``IDPrefix/shortest`` letters of it.
  ///   - records: all of them, or at least those whose ids begin so.
  ///   - id: the id of one.
  /// - Returns: that record.
  /// - Throws: `notFound`, and `ambiguous` with the ids that begin so.
  func lookUp<Record>(
    _ what: String, _ typed: String, among records: some Sequence<Record>,
    _ id: (Record) -> String
  ) throws(AdminError) -> Record {
    var fitting: [Record] = []
    for record in records {
      let id = id(record)
      if id.utf8.elementsEqual(typed.utf8) { return record }
      if typed.isBeginning, id.utf8.starts(with: typed.utf8) { fitting.append(record) }
    }
    guard let first = fitting.first else { throw .missing(what, typed) }
    guard fitting.count == 1 else { throw .ambiguous(what, typed, fitting.map(id)) }
    return first
  }

  /// The record that a typed id names in a list of the store, which is in the order of the ids.
  ///
  /// - Parameters:
  ///   - what: what is looked for, as messages call it.
  ///   - typed: the id, or at least ``IDPrefix/shortest`` letters of it.
  ///   - id: the id of one.
  ///   - page: those behind an id, at most so many.
  /// - Returns: that record.
  /// - Throws: `notFound`, and `ambiguous` with the ids that begin so.
  func lookUp<Record, Kind>(
    _ what: String, _ typed: String, _ id: (Record) -> Identifier<Kind>,
    in page: (Identifier<Kind>?, Int) async throws(StoreError) -> [Record]
  ) async throws(AdminError) -> Record {
    guard Identifier<Kind>(typed) != nil else { throw .missing(what, typed) }
    // Ids are listed in order: from one letter less on come the id itself, if there is one, and then all that begin
    // with it.
    var last = Identifier<Kind>(String(typed.dropLast()))
    let before = last
    // A whole id is the usual case, and one row: signing many out asks for as many.
    let next = try await stored { () throws(StoreError) in try await page(before, 1) }
    if let record = next.first, id(record).text.utf8.elementsEqual(typed.utf8) { return record }
    var fitting: [Record] = []
    let limit = 20
    while fitting.count <= limit {
      let after = last
      let records = try await stored { () throws(StoreError) in try await page(after, limit) }
      fitting += records.filter { id($0).text.utf8.starts(with: typed.utf8) }
      guard let end = records.last.map(id), records.count == limit, !end.isBeyond(typed) else {
        break
      }
      last = end
    }
    return try lookUp(what, typed, among: fitting) { id($0).text }
  }

  /// The device that a typed id names among those that are signed in, and those of `others`: by its short name, by the
  /// beginning of that, or by its own id.
  ///
  /// - Returns: nil when there is none.
  /// - Throws: `ambiguous`: devices choose their own ids, and one may have chosen the beginning of another's short
  ///   name.
  func findDevice(
    _ typed: String, among others: some Sequence<DeviceHash> = EmptyCollection()
  ) async throws(AdminError) -> DeviceHash? {
    var fitting = Set(others.filter { $0.isCalled(typed) })
    if DeviceHash.mayBeCalled(typed) {
      fitting.formUnion(try await signedInDevices { $0.isCalled(typed) })
      // A whole short name comes first: a device that calls itself so hides no other.
      if let whole = fitting.first(where: { $0.shortName == typed }) { return whole }
    }
    if let own = DeviceID(typed).map(core.hasher.device), try await isSignedIn(own) {
      fitting.insert(own)
    }
    guard fitting.count <= 1 else {
      throw .ambiguous("device", typed, fitting.map(\.shortName).sorted())
    }
    return fitting.first
  }

  private func isSignedIn(_ device: DeviceHash) async throws(AdminError) -> Bool {
    try await stored { () throws(StoreError) in
      try await !core.store.authentications(
        AuthenticationFilter(device: device), after: nil, limit: 1, at: now
      ).isEmpty
    }
  }

  /// Looks through all sign-ins, which are found by device and not by what operators type.
  private func signedInDevices(where fits: (DeviceHash) -> Bool) async throws(AdminError)
    -> [DeviceHash]
  {
    var found: [DeviceHash] = []
    var last: AuthenticationID?
    while true {
      let after = last
      let page = try await stored { () throws(StoreError) in
        try await core.store.authentications(
          AuthenticationFilter(), after: after, limit: AdminPaths.page, at: now)
      }
      found += page.map(\.deviceHash).filter(fits)
      guard let end = page.last else { return found }
      last = end.authentication.id
    }
  }
}

extension DeviceHash {
  /// Whether this is the short name, or a beginning of it that is long enough.
  func isCalled(_ typed: String) -> Bool {
    Self.mayBeCalled(typed) && shortName.hasPrefix(typed)
  }

  /// Whether it may be a short name, or a beginning of one.
  static func mayBeCalled(_ text: String) -> Bool {
    (IDPrefix.shortest...16).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
      }
  }
}

extension Identifier {
  /// Whether it comes behind everything that begins so.
  fileprivate func isBeyond(_ beginning: String) -> Bool {
    beginning.utf8.lexicographicallyPrecedes(text.utf8)
      && !text.utf8.starts(with: beginning.utf8)
  }
}

extension String {
  fileprivate var isBeginning: Bool { utf8.count >= IDPrefix.shortest }
}
