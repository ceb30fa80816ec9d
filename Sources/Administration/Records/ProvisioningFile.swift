public import RegentJSON
public import RegentPairing

/// Everything that operators made, but keys and passwords, as one document: what is kept in a repository.
public struct ProvisioningFile: AdminDocument, Equatable {
  public var requestors: [Requestor] = []
  public var providers: [Provider] = []
  public var integrations: [Integration] = []
  /// All accounts, without their passwords.
  public var accounts: [Account] = []
  /// Hashes of passwords that another program made, by ``OperatorRecord/keyBytes``; a service never says them.
  public var passwordHashes: [[UInt8]: String] = [:]
  /// All rules, without the ids that a service gave them.
  public var entitlements: [EntitlementRequest] = []

  /// The sections that the file has, empty ones too: what another section would hold is not the file's to remove.
  public private(set) var sections = Set(Section.allCases)

  /// A kind of records, by the name of its member.
  public enum Section: String, CaseIterable, Sendable {
    case requestors, providers, integrations, accounts, entitlements

    /// What one of them is called, where each is on a line of its own.
    fileprivate var one: String { String(rawValue.dropLast()) }
  }

  private typealias Member = Section

  private static let passwordHash = "passwordHash"

  /// Nothing yet.
  public init() {}

  /// Reads a file; a name that nobody knows is refused, because leaving it out would leave out what was meant.
  ///
  /// A record says all of itself: a member that is left out has its usual value.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    for member in object.members where Member(rawValue: member.name) == nil {
      throw JSONShapeError(name: member.name, expected: "removed: this member is unknown")
    }
    var seen: Set<[UInt8]> = []
    sections = Set(object.members.compactMap { Member(rawValue: $0.name) })
    for member in Member.allCases {
      for (place, value) in (try object.optionalArray(member.rawValue) ?? []).enumerated() {
        try add(value, member, "\(member.rawValue)[\(place)]", &seen)
      }
    }
  }

  /// Reads a file with a record on each line: `{"account": {"provider": "cable", "name": "anna"}}`.
  ///
  /// `lines` gives the next one with its number, nil at the end: no more than one is held at a time.
  public init<Failure: Error>(
    lines next: () throws(Failure) -> (number: Int, object: JSONObject)?, shape: (JSONShapeError) -> Failure
  ) throws(Failure) {
    var seen: Set<[UInt8]> = []
    sections = []
    while let line = try next() {
      let place = "line \(line.number)"
      do throws(JSONShapeError) {
        guard let (member, value) = Self.record(line.object) else {
          throw JSONShapeError(
            name: place, expected: "an object with one member: \(Member.allCases.map(\.one).joined(separator: ", "))")
        }
        sections.insert(member)
        try add(value, member, "\(place): \(member.one)", &seen)
      } catch {
        throw shape(error)
      }
    }
  }

  /// Whether an object is a line of a file with a record on each.
  public static func isLine(_ object: JSONObject) -> Bool { record(object) != nil }

  private static func record(_ object: JSONObject) -> (Member, JSONValue)? {
    guard object.members.count == 1, let only = object.members.first,
      let member = Member.allCases.first(where: { $0.one == only.name }), only.value.object != nil
    else { return nil }
    return (member, only.value)
  }

  /// The file as it is written, a record on each line.
  public var lines: [JSONObject] {
    func named(_ member: Member, _ records: [some AdminDocument]) -> [JSONObject] {
      records.map { [member.one: $0.json] }
    }
    return named(.requestors, requestors) + named(.providers, providers) + named(.integrations, integrations)
      + named(.accounts, accounts) + named(.entitlements, entitlements)
  }

  /// The file as it is written.
  public var object: JSONObject {
    var object = JSONObject()
    object.set(Member.requestors.rawValue, requestors)
    object.set(Member.providers.rawValue, providers)
    object.set(Member.integrations.rawValue, integrations)
    object.set(Member.accounts.rawValue, accounts)
    object.set(Member.entitlements.rawValue, entitlements)
    return object
  }

  private mutating func add(
    _ value: JSONValue, _ member: Member, _ place: String, _ seen: inout Set<[UInt8]>
  ) throws(JSONShapeError) {
    guard var object = value.object else { throw JSONShapeError(name: place, expected: "an object") }
    do throws(JSONShapeError) {
      switch member {
      case .requestors: requestors.append(try Self.record(object, member, &seen))
      case .providers: providers.append(try Self.record(object, member, &seen))
      case .integrations: integrations.append(try Self.record(object, member, &seen))
      case .accounts:
        let hash = try object.optionalString(Self.passwordHash)
        object[Self.passwordHash] = nil
        let account: Account = try Self.record(object, member, &seen)
        accounts.append(account)
        passwordHashes[account.keyBytes] = hash
      case .entitlements: entitlements.append(try EntitlementRequest(object))
      }
    } catch {
      throw JSONShapeError(
        name: "\(place).\(error.name)", expected: error.expected, isMissing: error.isMissing)
    }
  }

  private static func record<Record: OperatorRecord>(
    _ object: JSONObject, _ member: Member, _ seen: inout Set<[UInt8]>
  ) throws(JSONShapeError) -> Record {
    let record = try Patch<Record>(object).record([:])
    guard seen.insert(Array(member.rawValue.utf8) + record.keyBytes).inserted else {
      throw JSONShapeError(name: Record.key[0].rawValue, expected: "unique: another entry has the same one")
    }
    return record
  }
}

extension OperatorRecord {
  /// What says which record it is, as one text.
  public var keyText: String {
    let object = object
    return Self.key.map { object[$0.rawValue]?.string ?? "" }.joined(separator: "/")
  }

  /// The same as what it is compared by: two names that only look alike are two.
  public var keyBytes: [UInt8] { Array(keyText.utf8) }
}
