internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore

// Finds records by the ids that operators type: the whole id, or the beginning of the id if it matches only one record.

extension AdminCall {
  /// Finds, among `records`, the record whose id is the typed text or begins with it.
  ///
  /// `what` is the kind of record, for messages. A beginning needs at least ``IDPrefix/shortest`` letters. Throws
  /// `notFound`, or `ambiguous` with all ids that begin with the text.
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

  /// Finds the record whose id is the typed text or begins with it, in a list of the store that is sorted by id.
  ///
  /// `page` returns up to the given number of records after an id. Throws `notFound`, or `ambiguous` with all ids that
  /// begin with the text.
  func lookUp<Record, Kind>(
    _ what: String, _ typed: String, _ id: (Record) -> Identifier<Kind>,
    in page: (Identifier<Kind>?, Int) async throws(StoreError) -> [Record]
  ) async throws(AdminError) -> Record {
    guard Identifier<Kind>(typed) != nil else { throw .missing(what, typed) }
    // The list is read from after the id `last`. With the typed text without its last letter, no matching id is
    // skipped: the list is sorted, and each id that begins with the typed text comes after that shorter text.
    var last = Identifier<Kind>(String(typed.dropLast()))
    let before = last
    // Operators usually type the whole id, so one row is read first. The saved time matters when many sign-ins are
    // revoked one by one.
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

  /// Finds a device that is signed in or in `others`; nil when no device matches.
  ///
  /// `typed` may be the device's short name, the beginning of its short name, or the id that it calls itself. Throws
  /// `ambiguous` when several match: devices choose their own ids. A device may have chosen the beginning of another's
  /// short name, and boxes with different key pairs may be signed in with one device id.
  func findDevice(_ typed: String, among others: [DeviceHash]? = nil) async throws(AdminError) -> DeviceHash? {
    var fitting = Set((others ?? []).filter { $0.isCalled(typed) })
    let (own, mayBeCalled) = (DeviceID(typed), DeviceHash.mayBeCalled(typed))
    // Two owners may be signed in with one device id; the second has a hash of its own (`SignInOwner`). Temporary
    // passes, which are in `others`, are counted by the device id alone.
    if others == nil || mayBeCalled {
      fitting.formUnion(
        try await signedInDevices {
          (mayBeCalled && $0.deviceHash.isCalled(typed)) || (others == nil && $0.device == own)
        })
    }
    if mayBeCalled {
      // A complete short name takes precedence. Otherwise a device could hide another one by choosing the other's short
      // name as its id.
      if let whole = fitting.first(where: { $0.shortName == typed }) { return whole }
    }
    if others != nil, let own = own.map(core.hasher.device), try await isSignedIn(own) { fitting.insert(own) }
    var what = "are signed in with this device id"
    if fitting.isEmpty {
      fitting = try await devices(named: typed)
      what = "have this name"
    }
    guard fitting.count <= 1 else {
      let names = fitting.map(\.shortName).sorted()
      guard !fitting.contains(where: { $0.isCalled(typed) }) else { throw .ambiguous("device", typed, names) }
      throw .ambiguous(
        "device", typed, names, hint: "several boxes \(what); type one of these ids")
    }
    return fitting.first
  }

  /// The signed-in devices to which an operator or a viewer has given this name.
  ///
  /// A name that a device gives itself does not count, because an app could copy the name of another one.
  private func devices(named name: String) async throws(AdminError) -> Set<DeviceHash> {
    var found: Set<DeviceHash> = []
    var last: AuthenticationID?
    while true {
      let after = last
      let (records, names) = try await stored { () throws(StoreError) in
        let records = try await core.store.authentications(
          AuthenticationFilter(), after: after, limit: AdminPaths.page, at: now)
        return (records, try await core.screenNames(of: records))
      }
      for record in records where names[record.authentication.id] == name { found.insert(record.deviceHash) }
      guard records.count == AdminPaths.page, let end = records.last else { return found }
      last = end.authentication.id
    }
  }

  private func isSignedIn(_ device: DeviceHash) async throws(AdminError) -> Bool {
    try await stored { () throws(StoreError) in
      try await !core.store.authentications(
        AuthenticationFilter(device: device), after: nil, limit: 1, at: now
      ).isEmpty
    }
  }

  /// Finds signed-in devices that satisfy a condition.
  ///
  /// It scans all sign-ins, because the store has no index by short name, and none of the hashes of one device id.
  private func signedInDevices(where fits: (AuthenticationRecord) -> Bool) async throws(AdminError)
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
      found += page.filter(fits).map(\.deviceHash)
      guard let end = page.last else { return found }
      last = end.authentication.id
    }
  }
}

extension DeviceHash {
  /// Whether `typed` is the device's short name, or a long enough beginning of it.
  func isCalled(_ typed: String) -> Bool {
    Self.mayBeCalled(typed) && shortName.hasPrefix(typed)
  }

  /// Whether `text` has the form of a device's short name or of a long enough beginning of one.
  static func mayBeCalled(_ text: String) -> Bool {
    (IDPrefix.shortest...16).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
      }
  }
}

extension Identifier {
  /// Whether this id sorts after every id that begins with the text.
  fileprivate func isBeyond(_ beginning: String) -> Bool {
    beginning.utf8.lexicographicallyPrecedes(text.utf8)
      && !text.utf8.starts(with: beginning.utf8)
  }
}

extension String {
  fileprivate var isBeginning: Bool { utf8.count >= IDPrefix.shortest }
}
