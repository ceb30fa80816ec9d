public import RegentPairing

/// Everything that the store holds about one viewer, audit lines excepted.
public struct ViewerRows: Hashable, Sendable {
  /// Failed sign-ins that were counted under the viewer's name.
  public struct Failures: Hashable, Sendable {
    /// The network from which the sign-ins were tried; nil if this is the count of all networks together.
    public let source: String?
    public let failures: LoginFailures

    public init(source: String?, failures: LoginFailures) {
      self.source = source
      self.failures = failures
    }
  }

  public var account: Account?
  public var hasPassword = false
  public var rules: [Entitlement] = []
  public var sessions: [SessionRecord] = []
  public var signIns: [AuthenticationRecord] = []
  public var permits: [PermitRecord] = []
  public var grants: [GrantRecord] = []
  public var boxes: [BoxRecord] = []
  /// Decisions about apps on the boxes that the viewer is signed in on.
  public var decisions: [PlatformPermissionRecord] = []
  /// The names that the viewer or an operator gave to the viewer's screens.
  public var screenNames: [ScreenHash: String] = [:]
  /// Codes that the viewer has opened or approved.
  public var codes: [RegistrationRecord] = []
  public var failures: [Failures] = []

  public init() {}

  public var isEmpty: Bool { self == ViewerRows() }
}

/// The result of deleting what the store holds about a viewer.
public struct ErasedRows: Sendable {
  /// The rows that were deleted.
  public let rows: ViewerRows
  /// The registrations whose claims ended with ended sessions.
  public let changes: [RegistrationChange]

  public init(rows: ViewerRows, changes: [RegistrationChange]) {
    self.rows = rows
    self.changes = changes
  }
}
