public import RegentJSON

/// A record that operators add, change and remove.
public protocol OperatorRecord: AdminDocument, Equatable {
  associatedtype Member: RawRepresentable<String> & CaseIterable & Hashable & Sendable

  /// The members that identify the record; they never change.
  static var key: [Member] { get }
}

/// A change to a record that sets only the given members (JSON Merge Patch, RFC 7396).
public struct Patch<Record: OperatorRecord>: Sendable {
  /// The members to change and their new values; `null` removes a member.
  public private(set) var members = JSONObject()

  public init() {}

  /// Reads a change of a record.
  ///
  /// An unknown member is refused, because ignoring a misspelled one would silently drop the operator's setting.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    for member in object.members where Record.Member(rawValue: member.name) == nil {
      throw JSONShapeError(
        name: member.name,
        expected: member.name == "password"
          ? "removed: files take passwordHash only; to set a password, run regentctl account password"
          : "removed: this member is unknown")
    }
    members = object
  }

  public init(_ record: Record) {
    members = record.object
  }

  public mutating func set(_ member: Record.Member, _ value: JSONValue) {
    members[member.rawValue] = value
  }

  /// Adds a member to the change, unless the value is nil.
  public mutating func set(_ member: Record.Member, _ value: JSONValue?) {
    if let value { members[member.rawValue] = value }
  }

  /// Makes a new record of the members of this change, with defaults for the others.
  ///
  /// `key` has the members that identify the record.
  public func record(_ key: JSONObject) throws(JSONShapeError) -> Record {
    try result(over: key)
  }

  /// Returns the record with the members of this change.
  public func applied(to record: Record) throws(JSONShapeError) -> Record {
    try result(over: record.object)
  }

  private func result(over base: JSONObject) throws(JSONShapeError) -> Record {
    for member in Record.key.map({ $0.rawValue }) {
      guard let named = members[member], let there = base[member], named != there else { continue }
      throw JSONShapeError(name: member, expected: "the value in the request's path: it cannot be changed")
    }
    let record = try Record(merged(base, members))
    let result = record.object
    // A given member that is missing in the result was dropped because it does not fit the other members. An example is
    // a lifetime for a provider with accounts.
    for member in members.members where !member.value.isEmptyOrOff && result[member.name] == nil {
      throw JSONShapeError(name: member.name, expected: "removed: it cannot be combined with the other members")
    }
    return record
  }
}

/// A member in which a stored record differs from the wanted one.
public struct Difference: AdminDocument, Equatable {
  public let member: String
  public let stored: JSONValue?
  public let wanted: JSONValue?

  public init(member: String, stored: JSONValue?, wanted: JSONValue?) {
    self.member = member
    self.stored = stored
    self.wanted = wanted
  }

  public init(_ object: JSONObject) throws(JSONShapeError) {
    member = try object.string("member")
    stored = object["stored"]
    wanted = object["wanted"]
  }

  public var object: JSONObject {
    var object: JSONObject = ["member": .string(member)]
    object["stored"] = stored
    object["wanted"] = wanted
    return object
  }
}

extension OperatorRecord {
  /// The members in which this record differs from `wanted`, with both values.
  public func differences(to wanted: Self) -> [Difference] {
    let (here, there) = (object, wanted.object)
    // This code does not use key paths: in generic code the program would create each of them at run time.
    return Member.allCases.compactMap { member in
      let name = member.rawValue
      guard here[name] != there[name] else { return nil }
      return Difference(member: name, stored: here[name], wanted: there[name])
    }
  }
}

/// Merges `change` into `base`; a member with the value `null` is removed (RFC 7396).
private func merged(_ base: JSONObject, _ change: JSONObject) -> JSONObject {
  var result = base
  for member in change.members {
    switch member.value {
    case .null: result[member.name] = nil
    case .object(let inner):
      result[member.name] = .object(merged(base[member.name]?.object ?? [:], inner))
    default: result[member.name] = member.value
    }
  }
  return result
}

extension JSONValue {
  /// Whether the value means the same as a missing member.
  fileprivate var isEmptyOrOff: Bool {
    switch self {
    case .null, .bool(false): true
    case .array(let elements): elements.isEmpty
    case .object(let object): object.members.allSatisfy(\.value.isEmptyOrOff)
    default: false
    }
  }
}
