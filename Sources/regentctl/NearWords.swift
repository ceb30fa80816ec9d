/// Words from other systems, with the `regentctl` commands that they mean.
enum NearWords {
  /// The commands that `word` may mean, the likeliest first.
  ///
  /// The parser proposes the first one that exists at that place.
  static func of(_ word: String) -> [String] {
    switch word {
    case "user", "users", "viewer", "viewers", "guest", "guests", "subscriber", "customer", "login", "household":
      ["account"]
    case "box", "boxes", "tv", "screen", "screens", "stb", "signin", "sign-in", "signins": ["device"]
    case "entitlement", "entitlements", "rule", "rules", "permission", "permissions", "right", "rights", "allow",
      "channel", "channels", "package", "title":
      ["entitle"]
    case "app", "apps", "publisher", "publishers", "programmer": ["requestor"]
    case "mvpd", "mvpds", "operator", "idp": ["provider"]
    case "integration", "integrations", "link", "connect": ["integrate"]
    case "keypair", "key-pair", "credential", "credentials", "secret": ["key"]
    case "password", "passwd": ["password", "account password"]
    case "enrol", "enroll", "enrolment", "enrollment", "invite": ["invite", "requestor invite"]
    case "approve", "pair", "regcode", "registration", "pin": ["approve", "code"]
    case "phone", "phones", "browser", "browsers": ["session"]
    case "pass", "trial": ["temporary-pass"]
    case "log", "logs", "history", "events": ["audit"]
    case "status", "health", "check", "diagnose": ["doctor"]
    case "statistics", "metrics": ["stats"]
    case "init", "install", "configure": ["setup"]
    case "import", "load": ["apply"]
    case "dump": ["export"]
    case "create", "new", "grant": ["add", "issue"]
    case "ls", "all": ["list"]
    case "delete", "del", "rm", "revoke": ["remove", "revoke", "sign-out"]
    case "get", "info", "describe", "view": ["show"]
    case "edit", "update", "change", "modify", "rename": ["set"]
    case "logout", "sign-off", "signout": ["sign-out"]
    default: []
    }
  }
}
