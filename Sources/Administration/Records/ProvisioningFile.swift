public import RegentJSON
public import RegentPairing

/// Everything that operators made, but keys and passwords, as one document: what is kept in a repository.
public struct ProvisioningFile: AdminDocument, Equatable {
  public var requestors: [Requestor] = []
  public var providers: [Provider] = []
  public var integrations: [Integration] = []
  /// All accounts, without their passwords.
  public var accounts: [Account] = []
  /// All rules, without the ids that a service gave them.
  public var entitlements: [EntitlementRequest] = []

  private enum Member: String, CaseIterable {
    case requestors, providers, integrations, accounts, entitlements
  }

  /// Nothing yet.
  public init() {}

  /// Reads a file; a name that nobody knows is refused, because leaving it out would leave out what was meant.
  ///
  /// A record says all of itself: a member that is left out has its usual value.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    for member in object.members where Member(rawValue: member.name) == nil {
      throw JSONShapeError(name: member.name, expected: "left out: there is no such member")
    }
    requestors = try Self.records(object, .requestors)
    providers = try Self.records(object, .providers)
    integrations = try Self.records(object, .integrations)
    accounts = try Self.records(object, .accounts)
    entitlements = try object.located(Member.entitlements.rawValue) {
      (object) throws(JSONShapeError) in try EntitlementRequest(object)
    }
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

  private static func records<Record: OperatorRecord>(
    _ object: JSONObject, _ member: Member
  ) throws(JSONShapeError) -> [Record] {
    var seen: Set<[UInt8]> = []
    return try object.located(member.rawValue) { (object) throws(JSONShapeError) in
      let record = try Patch<Record>(object).record([:])
      guard seen.insert(record.keyBytes).inserted else {
        throw JSONShapeError(name: Record.key[0].rawValue, expected: "there once only")
      }
      return record
    }
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

extension JSONObject {
  /// Reads objects of an array; an error says in which of them it is: `requestors[2].name`.
  fileprivate func located<Element>(
    _ name: String, _ read: (JSONObject) throws(JSONShapeError) -> Element
  ) throws(JSONShapeError) -> [Element] {
    var elements: [Element] = []
    for (place, value) in (try optionalArray(name) ?? []).enumerated() {
      guard let object = value.object else {
        throw JSONShapeError(name: "\(name)[\(place)]", expected: "an object")
      }
      do throws(JSONShapeError) {
        elements.append(try read(object))
      } catch {
        throw JSONShapeError(
          name: "\(name)[\(place)].\(error.name)", expected: error.expected,
          isMissing: error.isMissing)
      }
    }
    return elements
  }
}
