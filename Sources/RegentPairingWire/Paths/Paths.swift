public import RegentPairing

/// The paths of the protocol, for clients.
///
/// The service matches a route without its `.json` or `.xml` suffix.
public enum Paths {
  /// Creates a registration code (POST).
  public static func regcode(_ requestor: RequestorID) -> String {
    "/reggie/v1/\(requestor)/regcode"
  }

  /// Reads (GET) or deletes (DELETE) a registration code.
  public static func regcode(_ requestor: RequestorID, _ code: RegistrationCode) -> String {
    "\(regcode(requestor))/\(code.wire)"
  }

  /// Returns the requestor's list of providers (GET).
  public static func config(_ requestor: RequestorID) -> String { "/api/v1/config/\(requestor)" }

  /// Starts a sign-in in a browser (GET).
  public static let authenticate = "/api/v1/authenticate"

  /// Polls for the sign-in of a code (GET).
  public static func authenticate(_ code: RegistrationCode) -> String {
    "\(authenticate)/\(code.wire)"
  }

  /// Signs a device in with a temporary pass (POST).
  public static let freePreview = "/api/v1/authenticate/freepreview"

  /// Whether this device is signed in (GET).
  public static let checkAuthentication = "/api/v1/checkauthn"

  /// Whether the device of this code is signed in (GET).
  public static func checkAuthentication(_ code: RegistrationCode) -> String {
    "\(checkAuthentication)/\(code.wire)"
  }

  /// Returns the sign-in of the device (GET), or signs in with an assertion of the box's shared account (POST).
  public static let authenticationToken = "/api/v1/tokens/authn"

  /// Returns a challenge for the box's shared account (a profile request), which the app passes to the box's daemon
  /// (GET).
  public static func profileRequest(_ requestor: RequestorID, _ provider: ProviderID) -> String {
    "/api/v1/\(requestor)/profile-requests/\(provider)"
  }

  /// Registers the public half of a box's key.
  ///
  /// The box must be signed in (POST).
  public static let platformKey = "/api/v1/platform/key"

  /// Reports a viewer's decision whether an app may use the box's shared account (POST).
  public static let platformPermission = "/api/v1/platform/permission"

  /// Returns the viewer's decisions about a box's apps.
  ///
  /// Supports long polling for changes (GET).
  public static let platformPermissions = "/api/v1/platform/permissions"

  /// Authorizes a resource (GET).
  public static let authorize = "/api/v1/authorize"

  /// Returns the stored authorization of a resource (GET).
  public static let authorizationToken = "/api/v1/tokens/authz"

  /// Returns a short media token (GET).
  public static let mediaToken = "/api/v1/tokens/media"

  /// The older path of ``mediaToken``.
  public static let olderMediaToken = "/api/v1/mediatoken"

  /// Returns which of several resources the viewer may watch (GET).
  public static let preauthorize = "/api/v1/preauthorize"

  /// Returns which resources the viewer may watch on the device that has this code.
  ///
  /// The phone uses it.
  public static func preauthorize(_ code: RegistrationCode) -> String {
    "\(preauthorize)/\(code.wire)"
  }

  /// Returns attributes of the viewer (GET).
  public static let userMetadata = "/api/v1/tokens/usermetadata"

  /// Signs a device out (DELETE or GET).
  public static let logout = "/api/v1/logout"

  /// Signs a browser out (GET, confirmed by POST).
  public static let browserLogout = "/logout"

  /// Registers a client (POST).
  public static let registerClient = "/o/client/register"

  /// Exchanges an enrolment code for a key pair of the box (POST).
  public static let enrol = "/o/box/enrol"

  /// Returns an access token for a client (POST).
  public static let clientToken = "/o/client/token"

  /// Returns the public keys that verify media tokens (GET).
  public static let keySet = "/oauth/jwks.json"

  /// The OpenAPI description of these paths (GET).
  public static let openAPI = "/openapi.json"

  /// Liveness probe (GET).
  public static let health = "/healthz"

  /// Readiness probe (GET).
  public static let ready = "/readyz"
}
