public import RegentJSON

/// A record that operators add, set and remove.
public protocol OperatorRecord: AdminDocument, Equatable {
  /// The names of its members.
  associatedtype Member: RawRepresentable<String> & CaseIterable & Hashable & Sendable

  /// The members that say which record it is; they never change.
  static var key: [Member] { get }
}

/// What an operator says of a record: the members that are named and nothing else (RFC 7396).
public struct Patch<Record: OperatorRecord>: Sendable {
  /// The members that are named; `null` takes one away.
  public private(set) var members = JSONObject()

  /// Nothing is said yet.
  public init() {}

  /// Reads what the other side says.
  ///
  /// A member that the record does not have is refused: ignoring a misspelt one would leave out what was meant.
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

  /// Names a member.
  public mutating func set(_ member: Record.Member, _ value: JSONValue) {
    members[member.rawValue] = value
  }

  /// Names a member if there is something to say.
  public mutating func set(_ member: Record.Member, _ value: JSONValue?) {
    if let value { members[member.rawValue] = value }
  }

  /// A new record of what is named, with usual values for the rest.
  ///
  /// `key` has the members that say which record it is.
  public func record(_ key: JSONObject) throws(JSONShapeError) -> Record {
    try result(over: key)
  }

  /// The record with what is named changed.
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
    // What was named and is not there does not go together with the rest: a lifetime for a provider with accounts.
    for member in members.members where !member.value.isEmptyOrOff && result[member.name] == nil {
      throw JSONShapeError(name: member.name, expected: "removed: it cannot be combined with the other members")
    }
    return record
  }
}

/// A member that is not as an operator wants it.
public struct Difference: AdminDocument, Equatable {
  public let member: String
  /// What is there.
  public let stored: JSONValue?
  /// What was wanted.
  public let wanted: JSONValue?

  public init(member: String, stored: JSONValue?, wanted: JSONValue?) {
    self.member = member
    self.stored = stored
    self.wanted = wanted
  }

  /// Reads a difference.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    member = try object.string("member")
    stored = object["stored"]
    wanted = object["wanted"]
  }

  /// The difference as it is sent.
  public var object: JSONObject {
    var object: JSONObject = ["member": .string(member)]
    object["stored"] = stored
    object["wanted"] = wanted
    return object
  }
}

extension OperatorRecord {
  /// In which members another record differs from this one.
  public func differences(to wanted: Self) -> [Difference] {
    let (here, there) = (object, wanted.object)
    // No key paths where the type is not known: the program would make each of them while it runs.
    return Member.allCases.compactMap { member in
      let name = member.rawValue
      guard here[name] != there[name] else { return nil }
      return Difference(member: name, stored: here[name], wanted: there[name])
    }
  }
}

/// The members of both, those of `change` winning; `null` takes away (RFC 7396).
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
  /// Whether leaving it out says the same.
  fileprivate var isEmptyOrOff: Bool {
    switch self {
    case .null, .bool(false): true
    case .array(let elements): elements.isEmpty
    case .object(let object): object.members.allSatisfy(\.value.isEmptyOrOff)
    default: false
    }
  }
}
