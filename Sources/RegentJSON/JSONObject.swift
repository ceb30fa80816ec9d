internal import RegentEncodings

/// The members of a JSON object in the order of the text; each name occurs once.
///
/// A lookup compares the names byte by byte in a linear search, because the objects of this program's protocols have
/// about a dozen members.
public struct JSONObject: Sendable {
  public struct Member: Sendable {
    public let name: String
    public var value: JSONValue

    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  public private(set) var members: [Member]

  public init() {
    members = []
  }

  /// Makes an object; if a name occurs more than once, the last value counts.
  public init(_ members: [Member]) {
    self.init()
    for member in members { self[member.name] = member.value }
  }

  /// Makes an object without looking for repeated names.
  ///
  /// Only for the reader, which has already refused repeated names.
  init(unique members: [Member]) {
    self.members = members
  }

  public var count: Int { members.count }

  public var isEmpty: Bool { members.isEmpty }

  /// The value of `name`, nil if there is no such member.
  ///
  /// Assigning nil removes the member.
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
    members.firstIndex { $0.name.hasSameBytes(as: name) }
  }
}

extension JSONObject: Equatable {
  /// Whether both objects have the same members, in any order.
  public static func == (one: JSONObject, other: JSONObject) -> Bool {
    guard one.count == other.count else { return false }
    for (place, member) in one.members.enumerated() {
      // Fast path: usually both objects have their members in the same order.
      if other.members[place].name.hasSameBytes(as: member.name) {
        guard other.members[place].value == member.value else { return false }
      } else {
        guard other[member.name] == member.value else { return false }
      }
    }
    return true
  }
}
