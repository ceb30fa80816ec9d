internal import Administration
internal import RegentJSON
internal import PairingStore

extension AdminError {
  static func missing(_ title: RecordTitle) -> AdminError {
    AdminError(.notFound, "there is no \(title)", hint: hint(about: title.kind, of: title.owner))
  }

  static func missing(_ what: String, _ name: String) -> AdminError {
    missing(RecordTitle(kind: what, name: name))
  }

  /// The error for an id that several records match, usually an abbreviated one.
  static func ambiguous(
    _ what: String, _ typed: String, _ ids: [String], hint: String = "type more characters of the id"
  ) -> AdminError {
    let most = 10
    let named = ids.prefix(most).joined(separator: ", ") + (ids.count > most ? ", …" : "")
    return AdminError(
      .ambiguous, "\(typed) is ambiguous; it matches these \(what)s: \(named)",
      hint: hint)
  }

  /// Translates an error of the store into an error for the operator.
  init(_ error: StoreError) {
    switch error {
    case .notFound(let what): self.init(.notFound, error.description, hint: Self.hint(about: what))
    case .changedMeanwhile: self.init(.changedMeanwhile, error.description)
    case .unkeepable: self.init(.invalid, error.description)
    case .diskFull: self.init(.unavailable, error.description)
    case .unavailable, .unknownOutcome:
      self.init(.unavailable, error.description, hint: "find the reason: regentctl doctor")
    case .refused, .notInForce, .pass, .exchange, .codeTaken, .tooManyLiveCodes, .tooManyClients, .sessionEnded:
      self.init(.refused, error.description)
    }
  }

  /// A hint with the command that lists records of a kind.
  ///
  /// `owner` is the requestor or provider whose list it is, when known.
  private static func hint(about kind: String, of owner: String? = nil) -> String? {
    switch kind {
    case "requestor": "list the requestors: regentctl requestor list"
    case "provider": "list the providers: regentctl provider list"
    case "integration": "list the integrations: regentctl integrate list \(owner ?? "REQUESTOR")"
    case "account": "list the accounts: regentctl account list \(owner ?? "PROVIDER")"
    case "entitlement", "rule": "list the rules: regentctl entitle list PROVIDER"
    case "key": "list the keys: regentctl key list REQUESTOR"
    case "statement": "list the statements: regentctl statement list"
    case "code": "list the codes: regentctl code list"
    case "device":
      "use the ID of regentctl device list, or at least its first \(IDPrefix.shortest) letters, or the box's name if only "
        + "one box has it"
    case "session": "list the sessions: regentctl session list"
    case "sign-in": "list the sign-ins: regentctl token list"
    case "signing key": "list the signing keys: regentctl signing-key list"
    default: nil
    }
  }
}

/// Calls the store and translates its errors into errors for operators.
func stored<Value>(_ ask: () async throws(StoreError) -> Value) async throws(AdminError) -> Value {
  do throws(StoreError) {
    return try await ask()
  } catch {
    throw AdminError(error)
  }
}

/// Parses a request and translates parsing errors into errors for operators.
func shaped<Value>(_ read: () throws(JSONShapeError) -> Value) throws(AdminError) -> Value {
  do throws(JSONShapeError) {
    return try read()
  } catch {
    throw AdminError(.invalid, error.description)
  }
}
