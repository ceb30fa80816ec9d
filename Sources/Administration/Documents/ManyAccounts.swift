public import RegentJSON
public import RegentPairing

/// One account of many that an operator adds or changes together.
public struct AccountChange: AdminDocument {
  /// Whether it is to be added: one that is there and different is refused then.
  public let isNew: Bool
  /// What is said of it, with its provider and name.
  public let patch: Patch<Account>
  /// The hash of its password as another program made it, for an account that has no password.
  public let passwordHash: String?

  public init(isNew: Bool, _ patch: Patch<Account>, passwordHash: String?) {
    self.isNew = isNew
    self.patch = patch
    self.passwordHash = passwordHash
  }

  /// Reads a change.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    isNew = try object.optionalBool("new") ?? false
    guard let account = object["account"]?.object else {
      throw JSONShapeError(name: "account", expected: "an object")
    }
    patch = try Patch(account)
    passwordHash = try object.optionalString("passwordHash")
  }

  /// The change as it is sent.
  public var object: JSONObject {
    var object: JSONObject = ["new": .bool(isNew), "account": .object(patch.members)]
    object.set("passwordHash", passwordHash)
    return object
  }
}

/// Accounts that are added or changed all together or not at all.
public struct AccountBatch: AdminDocument {
  public let changes: [AccountChange]

  public init(_ changes: [AccountChange]) { self.changes = changes }

  /// Reads a batch.
  public init(_ object: JSONObject) throws(JSONShapeError) { changes = try object.documents("changes") }

  /// The batch as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("changes", changes)
    return object
  }
}

/// What became of each account of a batch.
public struct AccountOutcomes: AdminDocument, Codable {
  public let outcomes: [String]

  public init(_ outcomes: [SaveOutcome]) { self.outcomes = outcomes.map(\.rawValue) }
}

/// A hash that another program made, and whose password it is.
public struct HashQuestion: AdminDocument {
  public let provider: ProviderID
  public let name: AccountName
  public let passwordHash: String

  public init(_ provider: ProviderID, _ name: AccountName, _ passwordHash: String) {
    self.provider = provider
    self.name = name
    self.passwordHash = passwordHash
  }

  /// Reads a question.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    provider = try object.identifier("provider")
    name = try object.identifier("name")
    passwordHash = try object.string("passwordHash")
  }

  /// The question as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("provider", provider)
    object.set("name", name)
    object.set("passwordHash", passwordHash)
    return object
  }
}

/// Hashes that are looked at before anything is written.
public struct HashQuestions: AdminDocument {
  public let questions: [HashQuestion]

  public init(_ questions: [HashQuestion]) { self.questions = questions }

  /// Reads questions.
  public init(_ object: JSONObject) throws(JSONShapeError) { questions = try object.documents("questions") }

  /// The questions as they are sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("questions", questions)
    return object
  }
}

/// A hash that would be taken.
public struct HashAnswer: AdminDocument, Codable {
  /// With which algorithm and work it was made: `bcrypt with cost 12`.
  public let form: String
  /// Whether the account has a password already, which stays.
  public let hasPassword: Bool

  public init(form: String, hasPassword: Bool) {
    self.form = form
    self.hasPassword = hasPassword
  }
}
