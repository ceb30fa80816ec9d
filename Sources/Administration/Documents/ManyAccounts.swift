public import RegentJSON
public import RegentPairing

/// One change in a batch of accounts.
public struct AccountChange: AdminDocument {
  /// Whether the account must be new.
  ///
  /// If so, the change is refused when an account of this name exists and differs.
  public let isNew: Bool
  /// The members of the account to set, including provider and name.
  public let patch: Patch<Account>
  /// The account's password hash from another program; used only for an account that has no password.
  public let passwordHash: String?

  public init(isNew: Bool, _ patch: Patch<Account>, passwordHash: String?) {
    self.isNew = isNew
    self.patch = patch
    self.passwordHash = passwordHash
  }

  public init(_ object: JSONObject) throws(JSONShapeError) {
    isNew = try object.optionalBool("new") ?? false
    guard let account = object["account"]?.object else {
      throw JSONShapeError(name: "account", expected: "an object")
    }
    patch = try Patch(account)
    passwordHash = try object.optionalString("passwordHash")
  }

  public var object: JSONObject {
    var object: JSONObject = ["new": .bool(isNew), "account": .object(patch.members)]
    object.set("passwordHash", passwordHash)
    return object
  }
}

/// Changes of accounts that the service makes in one transaction.
public struct AccountBatch: AdminDocument {
  public let changes: [AccountChange]

  public init(_ changes: [AccountChange]) { self.changes = changes }

  public init(_ object: JSONObject) throws(JSONShapeError) { changes = try object.documents("changes") }

  public var object: JSONObject {
    var object = JSONObject()
    object.set("changes", changes)
    return object
  }
}

/// What happened to each account of a batch, in the batch's order.
public struct AccountOutcomes: AdminDocument, Codable {
  public let outcomes: [String]

  public init(_ outcomes: [SaveOutcome]) { self.outcomes = outcomes.map(\.rawValue) }
}

/// A password hash of another program, and the account to which it belongs.
public struct HashQuestion: AdminDocument {
  public let provider: ProviderID
  public let name: AccountName
  public let passwordHash: String

  public init(_ provider: ProviderID, _ name: AccountName, _ passwordHash: String) {
    self.provider = provider
    self.name = name
    self.passwordHash = passwordHash
  }

  public init(_ object: JSONObject) throws(JSONShapeError) {
    provider = try object.identifier("provider")
    name = try object.identifier("name")
    passwordHash = try object.string("passwordHash")
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.set("provider", provider)
    object.set("name", name)
    object.set("passwordHash", passwordHash)
    return object
  }
}

/// Password hashes to check before an import.
public struct HashQuestions: AdminDocument {
  public let questions: [HashQuestion]

  public init(_ questions: [HashQuestion]) { self.questions = questions }

  public init(_ object: JSONObject) throws(JSONShapeError) { questions = try object.documents("questions") }

  public var object: JSONObject {
    var object = JSONObject()
    object.set("questions", questions)
    return object
  }
}

/// The result of checking a hash that the service accepts.
public struct HashAnswer: AdminDocument, Codable {
  /// The hash's algorithm and cost, such as `bcrypt with cost 12`.
  public let form: String
  /// Whether the account already has a password, which an import does not replace.
  public let hasPassword: Bool

  public init(form: String, hasPassword: Bool) {
    self.form = form
    self.hasPassword = hasPassword
  }
}
