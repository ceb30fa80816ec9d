/// The paths of the admin interface.
///
/// The functions take an id for one call, or a placeholder such as `{requestor}` for mounting a route.
///
/// | path | GET | PUT | PATCH | DELETE | POST |
/// |---|---|---|---|---|---|
/// | `/v1/service` | version, start | | | | |
/// | `/v1/requestors` | list | | | | |
/// | `/v1/requestors/{id}` | show | add | set | remove | |
/// | `/v1/requestors/{id}/keys` | list | | | | issue |
/// | `/v1/requestors/{id}/integrations` | list | | | | |
/// | `/v1/requestors/{id}/integrations/{provider}` | show | | add or set | remove | |
/// | `/v1/requestors/{id}/statements` | | | | | issue |
/// | `/v1/requestors/{id}/invitations` | | | | | invite |
/// | `/v1/invitations`, `/v1/invitations/{id}/revoke` | list | | | | revoke |
/// | `/v1/keys/{key}`, `…/retire`, `…/revoke` | show | | | | act |
/// | `/v1/statements`, `/v1/statements/{id}`, `…/revoke` | list, show | | | | revoke |
/// | `/v1/providers`, `/v1/providers/{id}` | list, show | add | set | remove | |
/// | `/v1/providers/{id}/accounts` | list | | | | |
/// | `/v1/providers/{id}/account?name=N` | show | add | set | remove | |
/// | `/v1/providers/{id}/account/password?name=N` | | set | | | |
/// | `/v1/providers/{id}/account/data?name=N`, `…/account/erase?name=N` | export | | | | erase |
/// | `/v1/accounts`, `/v1/accounts/hashes` | | | | | add or set many, look at hashes |
/// | `/v1/providers/{id}/entitlements` | list | add | | | |
/// | `/v1/providers/{id}/title-test?name=N&resource=R` | findings | | | | |
/// | `/v1/providers/{id}/channels` | list | | | | |
/// | `/v1/entitlements/{id}` | show | | | remove | |
/// | `/v1/codes`, `/v1/codes/{code}`, `…/withdraw`, `…/approve` | list, show | | | | act |
/// | `/v1/sign-ins`, `/v1/sign-ins/{id}`, `…/revoke` | list, show | | | | revoke |
/// | `/v1/devices?id=D` | sign-ins | | name | sign out | |
/// | `/v1/why?id=D&resource=R` | findings | | | | |
/// | `/v1/boxes`, `/v1/boxes/{id}`, `…/sign-out` | list, show | | | | sign out |
/// | `/v1/requestors/{id}/clients` | | | | | add |
/// | `/v1/clients`, `/v1/clients/{id}` | list, show | | set | remove | |
/// | `/v1/requestors/{id}/client-invitations` | | | | | invite |
/// | `/v1/client-invitations`, `/v1/client-invitations/{id}/revoke` | list | | | | revoke |
/// | `/v1/grants`, `/v1/grants/{id}/revoke` | list | | | | revoke |
/// | `/v1/sessions`, `/v1/sessions?account=N&provider=P`, `/v1/sessions/{id}`, `…/end` | list, show | | | | end |
/// | `/v1/tokens/verify`, `/v1/temporary-passes/reset` | | | | | act |
/// | `/v1/temporary-passes?requestor=R&provider=P` | list | | | | |
/// | `/v1/signing-keys`, `…/rotate`, `…/{id}`, `…/{id}/retire` | list, show | | | | act |
/// | `/v1/master-key/change` | | | | | act |
/// | `/v1/audit?after=N&limit=N`, `/v1/audit/newest` | list, last number | | | | |
/// | `/v1/stats`, `/v1/doctor` | numbers, findings | | | | |
/// | `/v1/nodes`, `/v1/nodes/{node}`, `…/drain`, `…/resume` | list, show | | | | act |
/// | `/v1/backups`, `/v1/backups/{id}?offset=N` | fetch a part | | | drop | make |
///
/// Where a call takes an id, the beginning of the id is enough: ``IDPrefix/shortest`` letters or more, if no other id
/// begins so.
///
/// Lists that may be long take `after` (the last id seen) and `limit`.
public enum AdminPaths {
  /// The maximum number of entries of a list in one response.
  public static let page = 500
  /// The header in which root's client names the person behind it (`sudo`).
  public static let invokerHeader = "X-Regent-Invoker"
  /// The maximum number of bytes of a backup that one response contains.
  public static let backupPart = 1 << 20

  /// The path of the running service's version, start and public address.
  public static let service = "/v1/service"
  public static let requestors = "/v1/requestors"
  public static let providers = "/v1/providers"
  public static let statements = "/v1/statements"
  public static let codes = "/v1/codes"
  /// The path of the signed-in devices.
  public static let signIns = "/v1/sign-ins"
  public static let devices = "/v1/devices"
  /// The path that says why a device may or may not watch a title.
  public static let why = "/v1/why"
  /// The path of the boxes that share their sign-in with apps.
  public static let boxes = "/v1/boxes"
  /// The path of the browser sessions.
  public static let sessions = "/v1/sessions"
  /// The path of the OAuth clients.
  public static let clients = "/v1/clients"
  /// The path of the initial access tokens, with which OAuth clients register themselves.
  public static let clientInvitations = "/v1/client-invitations"
  /// The path of the grants of OAuth clients.
  public static let grants = "/v1/grants"
  /// The path of the key pairs of all requestors.
  public static let keys = "/v1/keys"
  /// The path of the invitations with which new boxes get their key pairs.
  public static let invitations = "/v1/invitations"
  /// The path of the entitlement rules.
  public static let entitlements = "/v1/entitlements"
  /// The path that verifies a media token.
  public static let verifyToken = "/v1/tokens/verify"
  /// The path of the temporary passes in use.
  public static let passes = "/v1/temporary-passes"
  /// The path that resets temporary passes.
  public static let resetPass = "/v1/temporary-passes/reset"
  /// The path of the keys that sign tokens.
  public static let signingKeys = "/v1/signing-keys"
  /// The path that makes a new key for signing tokens.
  public static let rotateSigningKey = "/v1/signing-keys/rotate"
  /// The path that encrypts the data keys with a new master key.
  public static let changeMasterKey = "/v1/master-key/change"
  public static let audit = "/v1/audit"
  /// The path of the number of the newest audit entry.
  public static let newestAudit = "/v1/audit/newest"
  /// The path of the nodes that share a store.
  public static let nodes = "/v1/nodes"
  /// The path of today's statistics.
  public static let stats = "/v1/stats"
  /// The path of the findings of the service's own checks.
  public static let doctor = "/v1/doctor"
  /// The path of copies of the database, to be fetched as backups.
  public static let backups = "/v1/backups"

  public static func requestor(_ id: String) -> String { "\(requestors)/\(id)" }
  public static func keys(of requestor: String) -> String { "\(requestors)/\(requestor)/keys" }
  /// The path of the software statements of a requestor's applications.
  public static func statements(of requestor: String) -> String {
    "\(requestors)/\(requestor)/statements"
  }
  /// The path of a requestor's invitations of new boxes.
  public static func invitations(of requestor: String) -> String {
    "\(requestors)/\(requestor)/invitations"
  }
  /// The path of a requestor's OAuth clients.
  public static func clients(of requestor: String) -> String { "\(requestors)/\(requestor)/clients" }
  /// The path of a requestor's initial access tokens, with which OAuth clients register themselves.
  public static func clientInvitations(of requestor: String) -> String {
    "\(requestors)/\(requestor)/client-invitations"
  }
  public static func integrations(of requestor: String) -> String {
    "\(requestors)/\(requestor)/integrations"
  }
  public static func integration(_ requestor: String, _ provider: String) -> String {
    "\(requestors)/\(requestor)/integrations/\(provider)"
  }
  public static func provider(_ id: String) -> String { "\(providers)/\(id)" }
  public static func accounts(of provider: String) -> String { "\(providers)/\(provider)/accounts" }
  /// The path of one account of a provider.
  ///
  /// The account's name is a query parameter, because it may contain a slash.
  public static func account(of provider: String) -> String { "\(providers)/\(provider)/account" }
  public static func password(of provider: String) -> String {
    "\(providers)/\(provider)/account/password"
  }
  /// The path of everything that is stored about a viewer.
  public static func viewerData(of provider: String) -> String { "\(providers)/\(provider)/account/data" }
  /// The path that erases everything that is stored about a viewer.
  public static func erasure(of provider: String) -> String { "\(providers)/\(provider)/account/erase" }
  /// The path that adds or changes several hundred accounts in one request.
  public static let manyAccounts = "/v1/accounts"
  /// The path that checks password hashes before they are imported.
  public static let hashes = "/v1/accounts/hashes"
  /// The path of a provider's entitlement rules.
  public static func entitlements(of provider: String) -> String {
    "\(providers)/\(provider)/entitlements"
  }
  /// The path that says whether an account may watch a title.
  public static func titleTest(of provider: String) -> String { "\(providers)/\(provider)/title-test" }
  /// The path of the channels that a provider's accounts have.
  public static func channels(of provider: String) -> String { "\(providers)/\(provider)/channels" }
  /// The path of one entry of a list, by its id.
  public static func one(_ list: String, _ id: String) -> String { "\(list)/\(id)" }
  /// The path of an action on one entry of a list.
  public static func act(_ list: String, _ id: String, _ verb: String) -> String {
    "\(list)/\(id)/\(verb)"
  }
}
