public import RegentJSON
public import RegentPairing

/// All records that operators make, except keys and passwords, as one document that operators can keep in a
/// version-control repository.
public struct ProvisioningFile: AdminDocument, Equatable {
  public var requestors: [Requestor] = []
  public var providers: [Provider] = []
  public var integrations: [Integration] = []
  /// All accounts of all providers, without their passwords.
  public var accounts: [Account] = []
  /// Password hashes of another program, by ``OperatorRecord/keyBytes`` of their account.
  ///
  /// A file with hashes can be imported. The service never exports its own.
  public var passwordHashes: [[UInt8]: String] = [:]
  /// All entitlement rules, without the ids that a service gave them.
  public var entitlements: [EntitlementRequest] = []

  /// The sections that the file has, including empty ones.
  ///
  /// Importing the file removes no records of the kinds whose section is missing.
  public private(set) var sections = Set(Section.allCases)

  /// A kind of record in the file.
  ///
  /// Its name is also that of the document's member with these records.
  public enum Section: String, CaseIterable, Sendable {
    case requestors, providers, integrations, accounts, entitlements

    /// The name of the member that holds one record of this kind, in a file with a record on each line.
    fileprivate var one: String { String(rawValue.dropLast()) }
  }

  private typealias Member = Section

  private static let passwordHash = "passwordHash"

  public init() {}

  /// Whether there is no record of this kind.
  public func isEmpty(_ section: Section) -> Bool {
    switch section {
    case .requestors: requestors.isEmpty
    case .providers: providers.isEmpty
    case .integrations: integrations.isEmpty
    case .accounts: accounts.isEmpty
    case .entitlements: entitlements.isEmpty
    }
  }

  /// Reads a provisioning file that is one JSON object.
  ///
  /// An unknown member is refused, because ignoring a misspelled one would silently drop records. Each record is
  /// complete: a member that is left out gets its default.
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

  /// Reads a provisioning file with one record on each line: `{"account": {"provider": "cable", "name": "anna"}}`.
  ///
  /// `next` returns the next line with its number, or nil at the end, so that only one line is in memory at a time.
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

  /// Whether a JSON object is one line of a provisioning file with a record on each line.
  public static func isLine(_ object: JSONObject) -> Bool { record(object) != nil }

  private static func record(_ object: JSONObject) -> (Member, JSONValue)? {
    guard object.members.count == 1, let only = object.members.first,
      let member = Member.allCases.first(where: { $0.one == only.name }), only.value.object != nil
    else { return nil }
    return (member, only.value)
  }

  /// The records of the file, one for each line.
  public var lines: [JSONObject] {
    func named(_ member: Member, _ records: [some AdminDocument]) -> [JSONObject] {
      records.map { [member.one: $0.json] }
    }
    return named(.requestors, requestors) + named(.providers, providers) + named(.integrations, integrations)
      + named(.accounts, accounts) + named(.entitlements, entitlements)
  }

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
  /// The values of the members that identify the record, joined by slashes.
  public var keyText: String {
    let object = object
    return Self.key.map { object[$0.rawValue]?.string ?? "" }.joined(separator: "/")
  }

  /// The bytes of ``keyText``, for comparing keys.
  ///
  /// Swift's String would treat different Unicode forms as equal.
  public var keyBytes: [UInt8] { Array(keyText.utf8) }
}
