/// A resource of the admin interface: the path as routes are mounted, and the path of one call.
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
/// | `/v1/accounts`, `/v1/accounts/hashes` | | | | | add or set many, look at hashes |
/// | `/v1/providers/{id}/entitlements` | list | add | | | |
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
/// Where an id is asked for, its beginning will do: ``IDPrefix/shortest`` letters or more, if only one has it.
///
/// Lists that may be long take `after` (the last id seen) and `limit`.
public enum AdminPaths {
  /// The most entries of one answer.
  public static let page = 500
  /// The most bytes of a backup in one answer.
  public static let backupPart = 1 << 20

  /// What the service says of itself.
  public static let service = "/v1/service"
  public static let requestors = "/v1/requestors"
  public static let providers = "/v1/providers"
  /// All software statements.
  public static let statements = "/v1/statements"
  /// The codes that are remembered.
  public static let codes = "/v1/codes"
  /// The devices that are signed in.
  public static let signIns = "/v1/sign-ins"
  public static let devices = "/v1/devices"
  /// Why a device may watch something, or may not.
  public static let why = "/v1/why"
  /// Boxes that hold an account for their apps.
  public static let boxes = "/v1/boxes"
  /// Signed-in browsers.
  public static let sessions = "/v1/sessions"
  /// Clients that speak OAuth.
  public static let clients = "/v1/clients"
  /// Tokens with which they register themselves.
  public static let clientInvitations = "/v1/client-invitations"
  /// What they were given.
  public static let grants = "/v1/grants"
  /// Key pairs.
  public static let keys = "/v1/keys"
  /// Invitations of boxes.
  public static let invitations = "/v1/invitations"
  /// Rules.
  public static let entitlements = "/v1/entitlements"
  /// Looking at a media token.
  public static let verifyToken = "/v1/tokens/verify"
  /// Temporary passes that were begun.
  public static let passes = "/v1/temporary-passes"
  /// Letting temporary passes begin anew.
  public static let resetPass = "/v1/temporary-passes/reset"
  /// The keys that sign media tokens.
  public static let signingKeys = "/v1/signing-keys"
  /// Making a new signing key.
  public static let rotateSigningKey = "/v1/signing-keys/rotate"
  /// Making a new master key.
  public static let changeMasterKey = "/v1/master-key/change"
  /// The audit log.
  public static let audit = "/v1/audit"
  /// The number of its newest line.
  public static let newestAudit = "/v1/audit/newest"
  /// The programs that serve together.
  public static let nodes = "/v1/nodes"
  /// Today's numbers.
  public static let stats = "/v1/stats"
  /// What the checks find.
  public static let doctor = "/v1/doctor"
  /// Copies of the database.
  public static let backups = "/v1/backups"

  /// One requestor.
  public static func requestor(_ id: String) -> String { "\(requestors)/\(id)" }
  /// A requestor's key pairs.
  public static func keys(of requestor: String) -> String { "\(requestors)/\(requestor)/keys" }
  /// A requestor's applications.
  public static func statements(of requestor: String) -> String {
    "\(requestors)/\(requestor)/statements"
  }
  /// A requestor's invitations of boxes.
  public static func invitations(of requestor: String) -> String {
    "\(requestors)/\(requestor)/invitations"
  }
  /// A requestor's clients that speak OAuth.
  public static func clients(of requestor: String) -> String { "\(requestors)/\(requestor)/clients" }
  /// A requestor's tokens with which clients register themselves.
  public static func clientInvitations(of requestor: String) -> String {
    "\(requestors)/\(requestor)/client-invitations"
  }
  /// A requestor's integrations.
  public static func integrations(of requestor: String) -> String {
    "\(requestors)/\(requestor)/integrations"
  }
  /// One integration.
  public static func integration(_ requestor: String, _ provider: String) -> String {
    "\(requestors)/\(requestor)/integrations/\(provider)"
  }
  /// One provider.
  public static func provider(_ id: String) -> String { "\(providers)/\(id)" }
  /// A provider's accounts.
  public static func accounts(of provider: String) -> String { "\(providers)/\(provider)/accounts" }
  /// One account of a provider, whose name is in the query: anything may stand in it, and a path takes no slash.
  public static func account(of provider: String) -> String { "\(providers)/\(provider)/account" }
  /// The password of an account.
  public static func password(of provider: String) -> String {
    "\(providers)/\(provider)/account/password"
  }
  /// Accounts by the hundred.
  public static let manyAccounts = "/v1/accounts"
  /// Looking at hashes of passwords before they are taken over.
  public static let hashes = "/v1/accounts/hashes"
  /// A provider's rules.
  public static func entitlements(of provider: String) -> String {
    "\(providers)/\(provider)/entitlements"
  }
  /// Something by its id, below its list.
  public static func one(_ list: String, _ id: String) -> String { "\(list)/\(id)" }
  /// An act on something by its id, below its list.
  public static func act(_ list: String, _ id: String, _ verb: String) -> String {
    "\(list)/\(id)/\(verb)"
  }
}
