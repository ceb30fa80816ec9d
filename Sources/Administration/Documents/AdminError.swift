public import RegentJSON

/// Why a request to the admin interface failed, as a sentence for operators, with a hint on what to type next.
public struct AdminError: Error, Equatable, Sendable {
  /// The kind of error, as a word for scripts.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The error code for a malformed request.
    public static let invalid = Code(rawValue: "invalid")
    public static let notFound = Code(rawValue: "not-found")
    /// The error code when several records match the abbreviated id.
    public static let ambiguous = Code(rawValue: "ambiguous")
    /// The error code when a record with this id exists and differs.
    public static let different = Code(rawValue: "different")
    /// The error code when the state of the record does not allow the action.
    public static let refused = Code(rawValue: "refused")
    /// The error code when another writer has changed the record meanwhile.
    public static let changedMeanwhile = Code(rawValue: "changed-meanwhile")
    /// The error code when the user has no permission to use the admin socket.
    public static let notAllowed = Code(rawValue: "not-allowed")
    public static let notRunning = Code(rawValue: "not-running")
    /// The error code when the service cannot perform the action at the moment, for example because the disk is full or
    /// the store is being reopened.
    public static let unavailable = Code(rawValue: "unavailable")
    public static let failed = Code(rawValue: "failed")
  }

  /// The kind of error, as a word for scripts.
  public let code: Code
  /// The error as a sentence in lower case without a full stop.
  public let message: String
  /// What the operator can do about the error.
  public let hint: String?
  /// The members in which an existing record differs from the one to add.
  public let differences: [Difference]

  public init(
    _ code: Code, _ message: String, hint: String? = nil, differences: [Difference] = []
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.differences = differences
  }
}

extension AdminError: CustomStringConvertible {
  public var description: String { message }
}

extension AdminError: AdminDocument {
  public init(_ object: JSONObject) throws(JSONShapeError) {
    let error = try object.object("error")
    self.init(
      Code(rawValue: try error.string("code")), try error.string("message"),
      hint: try error.optionalString("hint"), differences: try error.documents("differences"))
  }

  public var object: JSONObject {
    var error: JSONObject = ["code": .string(code.rawValue), "message": .string(message)]
    error.set("hint", hint)
    if !differences.isEmpty { error.set("differences", differences) }
    return ["error": .object(error)]
  }
}
