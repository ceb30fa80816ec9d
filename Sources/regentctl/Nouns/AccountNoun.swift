import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The commands of `regentctl account`.
enum AccountNoun {
  static let command = Command(
    "account", "viewers' accounts at a local provider",
    commands: [
      verb(
        "add", "add an account and set its password",
        details: """
          Asks for the password at the terminal, or reads it from the first line of standard input. Adding the same \
          account twice changes nothing. If the account exists with other values or another password, the command \
          fails, prints the difference and changes nothing; use "regentctl account set" or "regentctl account \
          password" to change it.
          """,
        inputs: [provider, newName, noPassword, weak] + options,
        rules: [.atMostOne([noPassword, weak])],
        example: "account add cable anna --household smith --zip 12345"
      ) { call, admin in
        let password =
          call[noPassword]
          ? nil : try newPassword("password of \(call[newName])", of: call[newName], mayBeWeak: call[weak], call)
        let saved = try await admin.add(
          call[provider], call[newName], patch(call), password: password)
        if let password { noteShortness(of: password, call) }
        call.show(saved, "account \(call[provider])/\(call[newName])")
      },
      AccountImport.command,
      verb(
        "set", "change an account",
        details: """
          Changes only the values that you give. A repeated option replaces the whole list. An empty value removes \
          the setting: --household "".
          """,
        inputs: [provider, name] + options, example: "account set cable anna --rating MPAA=PG-13"
      ) { call, admin in
        let saved = try await admin.set(call[provider], call[name], patch(call))
        call.show(saved, "account \(call[provider])/\(call[name])")
      },
      verb(
        "list", "list accounts", inputs: [optionalProvider],
        example: "account list cable"
      ) { call, admin in
        let isOfAll = call[optionalProvider] == nil
        call.show(
          list: try await accounts(of: call[optionalProvider], admin), id: title,
          (isOfAll ? [Table.Column("PROVIDER")] : []) + [
            Table.Column("NAME"), Table.Column("STATE", .name), Table.Column("HOUSEHOLD"),
            Table.Column("RATINGS"), Table.Column("CHANNELS"),
          ]
        ) {
          (isOfAll ? [$0.provider.text] : []) + [
            $0.name.text, $0.isDisabled ? "disabled" : "enabled", $0.household?.text ?? "-",
            ratings($0), shown($0.attributes.channels),
          ]
        }
      },
      verb(
        "show", "show an account", inputs: [providerOrWhole, optionalName],
        example: "account show cable anna"
      ) { call, admin in
        let (provider, name) = try named(call)
        let account = try await admin.account(provider, name)
        call.show(
          account.json(under: title(of: account)),
          lines: details([
            "provider": account.provider.text,
            "name": account.name.text,
            "state": account.isDisabled ? "disabled" : "enabled",
            "household": account.household?.text,
            "zip codes": shown(account.attributes.zipCodes),
            "ratings": ratings(account),
            "channels": shown(account.attributes.channels),
            "password": account.mayChangePassword.map { "change \(shown($0))" },
          ]))
      },
      verb(
        "disable", "refuse an account's sign-ins, browsers and boxes until it is enabled again",
        inputs: [provider, name], example: "account disable cable anna"
      ) { call, admin in try await setDisabled(true, call, admin) },
      verb(
        "enable", "allow a disabled account to sign in again", inputs: [provider, name],
        example: "account enable cable anna"
      ) { call, admin in try await setDisabled(false, call, admin) },
      verb(
        "password", "change an account's password and sign out its browsers",
        inputs: [provider, name, weak], example: "account password cable anna"
      ) { call, admin in
        // The account is looked up first, so that the user does not type a password for an account that does not exist.
        _ = try await admin.account(call[provider], call[name])
        let password = try newPassword(
          "new password of \(call[name])", of: call[name], mayBeWeak: call[weak], call)
        try await admin.setPassword(password, of: call[name], at: call[provider])
        noteShortness(of: password, call)
        call.say(
          "password of \(call[provider])/\(call[name]) changed",
          ["provider": .string(call[provider].text), "name": .string(call[name].text)])
      },
      AccountErasure.export,
      AccountErasure.erase,
      verb(
        "remove", "remove an account and sign out its boxes", inputs: [provider, name, yes],
        example: "account remove cable anna --yes"
      ) { call, admin in
        _ = try await admin.account(call[provider], call[name])
        let title = "\(call[provider])/\(call[name])"
        try Prompt.confirm(
          "remove account \(title) and sign out its boxes", unless: yes, call)
        try await admin.remove(call[provider], call[name])
        call.say(
          "account \(title) removed",
          ["provider": .string(call[provider].text), "name": .string(call[name].text)])
      },
    ])

  private static let provider = Input.argument(
    "PROVIDER", identifier("ID", Names.Provider.self), "the provider's id"
  ).completedByProviders { $0.hasAccounts }
  private static let optionalProvider = Input.optionalArgument(
    "PROVIDER", identifier("ID", Names.Provider.self), "the provider's id; all providers if left out"
  ).completedByProviders { $0.hasAccounts }
  private static let newName = Input.argument(
    "NAME", identifier("NAME", Names.Account.self), "the name that the viewer types")
  private static let name = Input.argument(
    "NAME", identifier("NAME", Names.Account.self), "the account's name"
  ).completedByAccounts { $0[provider] }
  // Lists print accounts as cable/anna, so the commands accept that form. Provider ids contain no slash.
  static let providerOrWhole = Input.argument(
    "PROVIDER", .text("ID"), "the provider's id, or PROVIDER/NAME as one argument"
  ).completedByProviders { $0.hasAccounts }
  static let optionalName = Input.optionalArgument(
    "NAME", identifier("NAME", Names.Account.self), "the account's name"
  ).completedByAccounts { $0[providerOrWhole].flatMap { ProviderID($0) } }
  private static let weak = Input.flag("weak", "accept a password that is easy to guess")
  private static let noPassword = Input.flag(
    "no-password",
    "add the account without a password; it cannot sign in before \"regentctl account password\" sets one")
  private static let household = Input.option(
    "household", JSONKind.member("NAME"), "the household that the account belongs to")
  private static let zipCodes = Input.repeated("zip", JSONKind.member("ZIP"), "a postal code of the viewer")
  private static let maximumRatings = Input.repeated(
    "rating", .rating, "the highest rating that the account may watch, such as MPAA=PG-13")
  private static let channels = Input.repeated(
    "channel", JSONKind.member("CHANNEL"),
    "a channel that the account may watch even if no entitle rule allows it")
  private static let passwordChange = Input.option(
    "password-change",
    .choice([("on", JSONValue.bool(true)), ("off", JSONValue.bool(false)), ("provider", JSONValue.null)]),
    "whether the viewer may change the password on the phone; \"provider\" uses the provider's setting (the default)"
  )
  private static let options: [any InputDeclaration] = [
    household, zipCodes, maximumRatings, channels, passwordChange,
  ]

  private typealias JSONKind = ValueKind<JSONValue>

  private static func title(of account: Account) -> String { "\(account.provider)/\(account.name)" }

  static func named(_ call: Invocation, verb: String = "show") throws(CommandError) -> (ProviderID, AccountName) {
    let typed = call[providerOrWhole]
    if let name = call[optionalName], let provider = ProviderID(typed) { return (provider, name) }
    let parts = typed.split(separator: "/", maxSplits: 1).map(String.init)
    guard call[optionalName] == nil, parts.count == 2, let provider = ProviderID(parts[0]),
      let name = AccountName(parts[1])
    else {
      throw .usage(
        "\(typed) does not name an account", hint: "run regentctl account \(verb) PROVIDER NAME")
    }
    return (provider, name)
  }

  private static func accounts(
    of provider: ProviderID?, _ admin: AdminClient
  ) async throws(AdminError) -> [Account] {
    if let provider { return try await admin.accounts(of: provider) }
    var all: [Account] = []
    for provider in try await admin.providers() where provider.hasAccounts {
      all += try await admin.accounts(of: provider.id)
    }
    return all
  }

  private static func patch(_ call: Invocation) -> Patch<Account> {
    var patch = Patch<Account>()
    patch.set(.household, call[household])
    patch.set(.zipCodes, list: call[zipCodes])
    patch.set(.maximumRatings, list: call[maximumRatings])
    patch.set(.channels, list: call[channels])
    patch.set(.passwordChange, call[passwordChange])
    return patch
  }

  private static func setDisabled(
    _ disabled: Bool, _ call: Invocation, _ admin: AdminClient
  ) async throws {
    var patch = Patch<Account>()
    patch.set(.disabled, .bool(disabled))
    let saved = try await admin.set(call[provider], call[name], patch)
    let state = disabled ? "disabled" : "enabled"
    call.show(
      saved.json,
      lines: [
        "account \(call[provider])/\(call[name]) "
          + (saved.outcome == .unchanged ? "is already \(state)" : state)
      ])
  }

  /// Reads a new password.
  ///
  /// Asks again for one that an attacker would try first, unless it may be weak.
  /// `canInsist` says whether the command has the option `--weak`.
  static func newPassword(
    _ prompt: String, of name: AccountName, mayBeWeak: Bool, canInsist: Bool = true, _ call: Invocation
  ) throws -> String {
    var left = passwordTries
    while true {
      let bytes = try Prompt.password(prompt, twice: true)
      guard let password = String(validating: bytes, as: UTF8.self) else {
        throw CommandError.usage(
          "the password is not valid UTF-8",
          hint: "set the terminal to UTF-8, or pass the password in UTF-8 on standard input")
      }
      guard !mayBeWeak, PasswordRule.isTrivial(password, for: name) else { return password }
      left -= 1
      let refusal = CommandError.usage(
        "the password is too easy to guess",
        hint: "use at least \(PasswordRule.shortest) characters, and neither the account's name nor a common word"
          + (canInsist ? "; or add --weak" : ""))
      guard call.canAsk, left > 0 else { throw refusal }
      call.console.note("\(refusal.message); \(refusal.hint ?? "")")
    }
  }

  private static let passwordTries = 3

  /// Warns about a short password.
  ///
  /// Operators may set one; the limit applies to viewers who choose their own.
  static func noteShortness(of password: String, _ call: Invocation) {
    guard password.unicodeScalars.count < PasswordRule.least else { return }
    call.console.note(
      "warning: the password is set, but short; viewers who change it themselves need at least "
        + "\(PasswordRule.least) characters")
  }

  private static func ratings(_ account: Account) -> String {
    shown(account.attributes.maximumRatings.map { "\($0.scheme.name)=\($0.value)" })
  }
}
