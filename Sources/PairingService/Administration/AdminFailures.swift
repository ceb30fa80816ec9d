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

  /// The error for an abbreviated id that several records match.
  static func ambiguous(_ what: String, _ typed: String, _ ids: [String]) -> AdminError {
    let most = 10
    let named = ids.prefix(most).joined(separator: ", ") + (ids.count > most ? ", …" : "")
    return AdminError(
      .ambiguous, "\(typed) may be any of these \(what)s: \(named)",
      hint: "type more of the one that you mean")
  }

  /// Translates an error of the store into an error for the operator.
  init(_ error: StoreError) {
    switch error {
    case .notFound(let what): self.init(.notFound, error.description, hint: Self.hint(about: what))
    case .changedMeanwhile: self.init(.changedMeanwhile, error.description)
    case .unkeepable: self.init(.invalid, error.description)
    case .diskFull: self.init(.unavailable, error.description)
    case .unavailable, .unknownOutcome:
      self.init(.unavailable, error.description, hint: "see what is the matter: regentctl doctor")
    case .refused, .notInForce, .pass, .exchange, .codeTaken, .tooManyLiveCodes, .tooManyClients, .sessionEnded:
      self.init(.refused, error.description)
    }
  }

  /// A hint with the command that lists records of a kind.
  ///
  /// `owner` is the requestor or provider whose list it is, when known.
  private static func hint(about kind: String, of owner: String? = nil) -> String? {
    switch kind {
    case "requestor": "regentctl requestor list shows those there are"
    case "provider": "regentctl provider list shows those there are"
    case "integration": "regentctl integrate list \(owner ?? "REQUESTOR") shows those there are"
    case "account": "regentctl account list \(owner ?? "PROVIDER") shows those there are"
    case "entitlement", "rule": "regentctl entitle list PROVIDER shows those there are"
    case "key": "regentctl key list REQUESTOR shows those there are"
    case "statement": "regentctl statement list shows those there are"
    case "code": "regentctl code list shows those that are remembered"
    case "device": "regentctl device list shows those that are signed in"
    case "session": "regentctl session list shows those there are"
    case "sign-in": "regentctl token list shows those there are"
    case "signing key": "regentctl signing-key list shows those there are"
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
