import Administration
import CommandKit
import RegentPairing

let regentctl = Program(
  name: "regentctl", version: regentVersion,
  summary: "manage the service that signs TV screens in with a phone",
  details: """
    A requestor is an app publisher. A provider is a directory of viewers' accounts. An integration lets a \
    requestor's apps sign in with a provider. A new service needs one of each: "regentctl setup" asks for them.

    Commands use the admin socket of the running service. Root, the service's own user and the members of its \
    --admin-group may use it. No command opens the database of a running service.
    """,
  options: [Connection.socket], environmentPrefix: "REGENT_", offersJSON: true,
  commands: [
    CommandOffer("setup", SetupVerb.command),
    CommandOffer("requestor", RequestorNoun.command),
    CommandOffer("key", KeyNoun.command),
    CommandOffer("statement", StatementNoun.command),
    CommandOffer("invitation", InvitationNoun.command),
    CommandOffer("provider", ProviderNoun.command),
    CommandOffer("integrate", IntegrateVerb.command),
    CommandOffer("account", AccountNoun.command),
    CommandOffer("entitle", EntitleNoun.command),
    CommandOffer("code", CodeNoun.command),
    CommandOffer("device", DeviceNoun.command),
    CommandOffer("platform", PlatformNoun.command),
    CommandOffer("client", ClientNoun.command),
    CommandOffer("grant", GrantNoun.command),
    CommandOffer("session", SessionNoun.command),
    CommandOffer("token", TokenNoun.command),
    CommandOffer("temporary-pass", TemporaryPassNoun.command),
    CommandOffer("signing-key", SigningKeyNoun.command),
    CommandOffer("master-key", MasterKeyNoun.command),
    CommandOffer("audit", AuditNoun.command),
    CommandOffer("stats", StatsVerb.command),
    CommandOffer("node", NodeNoun.command),
    CommandOffer("announce", AnnounceVerb.command),
    CommandOffer("apply", ProvisioningVerbs.apply),
    CommandOffer("export", ProvisioningVerbs.export),
    CommandOffer("backup", UpkeepVerbs.backup),
    CommandOffer("restore", UpkeepVerbs.restore),
    CommandOffer("why", WhyVerb.command),
    CommandOffer("doctor", UpkeepVerbs.doctor),
  ],
  seeAlso: ["regentd(8)", "regent(1)"], manualSection: 8,
  explain: { error in (error as? AdminError).map(CommandError.init) }, nearWords: NearWords.of)

extension CommandError {
  init(_ error: AdminError) {
    self.init(error.message, hint: error.hint, code: error.code.rawValue)
  }
}
