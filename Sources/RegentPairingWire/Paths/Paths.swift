public import RegentPairing

/// The paths of the protocol, for whoever calls them; a route is matched without its `.json` or `.xml` suffix.
public enum Paths {
  /// Create a registration code (POST).
  public static func regcode(_ requestor: RequestorID) -> String {
    "/reggie/v1/\(requestor)/regcode"
  }

  /// Read (GET) or delete (DELETE) a registration code.
  public static func regcode(_ requestor: RequestorID, _ code: RegistrationCode) -> String {
    "\(regcode(requestor))/\(code.wire)"
  }

  /// The provider list (GET).
  public static func config(_ requestor: RequestorID) -> String { "/api/v1/config/\(requestor)" }

  /// Begin to sign in, in a browser (GET).
  public static let authenticate = "/api/v1/authenticate"

  /// A device's poll by code (GET).
  public static func authenticate(_ code: RegistrationCode) -> String {
    "\(authenticate)/\(code.wire)"
  }

  /// Let a temporary provider sign a device in (POST).
  public static let freePreview = "/api/v1/authenticate/freepreview"

  /// Whether this device is signed in (GET).
  public static let checkAuthentication = "/api/v1/checkauthn"

  /// Whether the device of this code is signed in (GET).
  public static func checkAuthentication(_ code: RegistrationCode) -> String {
    "\(checkAuthentication)/\(code.wire)"
  }

  /// The authentication (GET), or the exchange of a platform's profile (POST).
  public static let authenticationToken = "/api/v1/tokens/authn"

  /// What the box's platform account is asked for an app (GET).
  public static func profileRequest(_ requestor: RequestorID, _ provider: ProviderID) -> String {
    "/api/v1/\(requestor)/profile-requests/\(provider)"
  }

  /// The public half of a box's key, enrolled with its own sign-in (POST).
  public static let platformKey = "/api/v1/platform/key"

  /// What the viewer decided about an app (POST).
  public static let platformPermission = "/api/v1/platform/permission"

  /// What was decided about the apps of a box, held until that changes (GET).
  public static let platformPermissions = "/api/v1/platform/permissions"

  /// Authorize a resource (GET).
  public static let authorize = "/api/v1/authorize"

  /// The authorization of a resource, if there is one (GET).
  public static let authorizationToken = "/api/v1/tokens/authz"

  /// A short media token (GET).
  public static let mediaToken = "/api/v1/tokens/media"

  /// The same, under its older name.
  public static let olderMediaToken = "/api/v1/mediatoken"

  /// Which resources may be watched (GET).
  public static let preauthorize = "/api/v1/preauthorize"

  /// The same for the device of a code, on the second screen.
  public static func preauthorize(_ code: RegistrationCode) -> String {
    "\(preauthorize)/\(code.wire)"
  }

  /// The viewer's attributes (GET).
  public static let userMetadata = "/api/v1/tokens/usermetadata"

  /// Sign a device out (DELETE, GET).
  public static let logout = "/api/v1/logout"

  /// Sign a browser out (GET, confirmed by POST).
  public static let browserLogout = "/logout"

  /// Register a client (POST).
  public static let registerClient = "/o/client/register"

  /// Redeem an enrolment code for a key pair of the box's own (POST).
  public static let enrol = "/o/box/enrol"

  /// An access token for a client (POST).
  public static let clientToken = "/o/client/token"

  /// The keys that sign media tokens (GET).
  public static let keySet = "/oauth/jwks.json"

  /// The description of all of these (GET).
  public static let openAPI = "/openapi.json"

  /// Whether the service is alive (GET).
  public static let health = "/healthz"

  /// Whether it is ready to serve (GET).
  public static let ready = "/readyz"
}
