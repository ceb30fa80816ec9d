public import RegentJSON

/// Everything that is stored about a viewer, as one document for the viewer.
///
/// The service writes its members; clients pass it on and count its lists.
public struct ViewerData: AdminDocument {
  public let object: JSONObject

  public init(_ object: JSONObject) { self.object = object }

  /// The number of entries of a list.
  public func count(_ list: String) -> Int { object[list]?.array?.count ?? 0 }
}

/// What was erased about a viewer.
public struct ErasedViewer: AdminDocument, Codable, Hashable {
  /// The pseudonym that replaces the viewer's name in the audit log, such as `cable/erased-0f3a90c21d4e5b68`.
  public var pseudonym: String
  /// Whether the account still existed.
  public var account = false
  public var rules = 0
  public var sessions = 0
  public var signIns = 0
  public var permits = 0
  public var grants = 0
  /// Boxes that shared the viewer's sign-in with their apps.
  public var boxes = 0
  /// Decisions about apps on these boxes.
  public var decisions = 0
  public var screenNames = 0
  public var codes = 0
  public var failedSignIns = 0
  /// The number of audit lines in which the pseudonym replaced the name.
  public var auditLines = 0

  public init(pseudonym: String) { self.pseudonym = pseudonym }

  /// Whether an earlier erasure had left nothing to do.
  public var isEmpty: Bool { self == ErasedViewer(pseudonym: pseudonym) }
}
