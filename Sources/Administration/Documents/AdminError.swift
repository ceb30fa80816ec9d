public import RegentJSON

/// Why an admin call did not do what it was asked: what failed, and what to type next.
public struct AdminError: Error, Equatable, Sendable {
  /// A word for scripts.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word.
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// What was sent is not as it must be.
    public static let invalid = Code(rawValue: "invalid")
    /// There is no such thing.
    public static let notFound = Code(rawValue: "not-found")
    /// Several begin as was typed.
    public static let ambiguous = Code(rawValue: "ambiguous")
    /// Something else of that name is there.
    public static let different = Code(rawValue: "different")
    /// Its state does not allow it.
    public static let refused = Code(rawValue: "refused")
    /// Somebody else changed it meanwhile.
    public static let changedMeanwhile = Code(rawValue: "changed-meanwhile")
    /// This user may not.
    public static let notAllowed = Code(rawValue: "not-allowed")
    /// No service is running.
    public static let notRunning = Code(rawValue: "not-running")
    /// The service cannot do it now: a full disk, a store that is being reopened.
    public static let unavailable = Code(rawValue: "unavailable")
    /// Anything else.
    public static let failed = Code(rawValue: "failed")
  }

  /// A word for scripts.
  public let code: Code
  /// A sentence in lower case without a full stop.
  public let message: String
  /// What to do about it.
  public let hint: String?
  /// In what a record differs from the one that was to be added.
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
  /// The sentence.
  public var description: String { message }
}

extension AdminError: AdminDocument {
  /// Reads an error.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    let error = try object.object("error")
    self.init(
      Code(rawValue: try error.string("code")), try error.string("message"),
      hint: try error.optionalString("hint"), differences: try error.documents("differences"))
  }

  /// The error as it is sent.
  public var object: JSONObject {
    var error: JSONObject = ["code": .string(code.rawValue), "message": .string(message)]
    error.set("hint", hint)
    if !differences.isEmpty { error.set("differences", differences) }
    return ["error": .object(error)]
  }
}
