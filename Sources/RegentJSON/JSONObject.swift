/// The members of a JSON object, in the order they were written; each name occurs once.
///
/// Names are looked up byte for byte, one after the other: objects on the wire have a dozen members.
public struct JSONObject: Sendable {
  /// One name and its value.
  public struct Member: Sendable {
    public let name: String
    public var value: JSONValue

    /// A member from its two parts.
    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The members in order.
  public private(set) var members: [Member]

  /// An object without members.
  public init() {
    members = []
  }

  /// An object of these members; of several with one name the last counts.
  public init(_ members: [Member]) {
    self.init()
    for member in members { self[member.name] = member.value }
  }

  /// For the reader, which has already refused a repeated name.
  init(unique members: [Member]) {
    self.members = members
  }

  /// How many members there are.
  public var count: Int { members.count }

  /// True when there is no member.
  public var isEmpty: Bool { members.isEmpty }

  /// The value of `name`, nil when there is no such member; assigning nil removes it.
  public subscript(name: String) -> JSONValue? {
    get { position(of: name).map { members[$0].value } }
    set {
      switch (position(of: name), newValue) {
      case (let position?, let value?): members[position].value = value
      case (let position?, nil): members.remove(at: position)
      case (nil, let value?): members.append(Member(name, value))
      case (nil, nil): break
      }
    }
  }

  func position(of name: String) -> Int? {
    members.firstIndex { sameBytes($0.name, name) }
  }
}

extension JSONObject: Equatable {
  /// True when both have the same members, in any order.
  public static func == (one: JSONObject, other: JSONObject) -> Bool {
    guard one.count == other.count else { return false }
    for (place, member) in one.members.enumerated() {
      // Nearly always the order is the same too.
      if sameBytes(other.members[place].name, member.name) {
        guard other.members[place].value == member.value else { return false }
      } else {
        guard other[member.name] == member.value else { return false }
      }
    }
    return true
  }
}
