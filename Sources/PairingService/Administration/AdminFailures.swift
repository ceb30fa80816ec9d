internal import Administration
internal import RegentJSON
internal import PairingStore

extension AdminError {
  /// There is no such thing.
  static func missing(_ what: String, _ name: String) -> AdminError {
    AdminError(.notFound, "there is no \(what) \(name)", hint: hint(about: what, named: name))
  }

  /// Several begin so.
  static func ambiguous(_ what: String, _ typed: String, _ ids: [String]) -> AdminError {
    let most = 10
    let named = ids.prefix(most).joined(separator: ", ") + (ids.count > most ? ", …" : "")
    return AdminError(
      .ambiguous, "\(typed) may be any of these \(what)s: \(named)",
      hint: "type more of the one that you mean")
  }

  /// What lists those there are, with the names that are known filled in.
  private static func hint(about what: String, named name: String) -> String? {
    let owner =
      switch what {
      case "account": name.firstIndex(of: "/").map { (place: "PROVIDER", name: name[..<$0]) }
      case "integration": name.firstIndex(of: " ").map { (place: "REQUESTOR", name: name[..<$0]) }
      default: nil as (place: String, name: Substring)?
      }
    guard let owner else { return hints[what] }
    return hints[what]?.replacing(owner.place, with: owner.name)
  }

  /// What the store's refusal means to an operator.
  init(_ error: StoreError) {
    switch error {
    case .notFound(let what): self.init(.notFound, error.description, hint: Self.hints[what])
    case .changedMeanwhile: self.init(.changedMeanwhile, error.description)
    case .diskFull, .unavailable, .unknownOutcome: self.init(.unavailable, error.description)
    case .refused, .notInForce, .pass, .codeTaken, .tooManyLiveCodes, .sessionEnded:
      self.init(.refused, error.description)
    }
  }

  /// Where names of each kind are listed.
  private static let hints = [
    "requestor": "regentctl requestor list shows those there are",
    "provider": "regentctl provider list shows those there are",
    "integration": "regentctl integrate list REQUESTOR shows those there are",
    "account": "regentctl account list PROVIDER shows those there are",
    "entitlement": "regentctl entitle list PROVIDER shows those there are",
    "rule": "regentctl entitle list PROVIDER shows those there are",
    "key": "regentctl key list REQUESTOR shows those there are",
    "statement": "regentctl statement list shows those there are",
    "code": "regentctl code list shows those that are remembered",
    "device": "regentctl device list shows those that are signed in",
    "session": "regentctl session list shows those there are",
    "sign-in": "regentctl token list shows those there are",
    "signing key": "regentctl signing-key list shows those there are",
  ]
}

/// Asks the store, in an operator's words.
func stored<Value>(_ ask: () async throws(StoreError) -> Value) async throws(AdminError) -> Value {
  do throws(StoreError) {
    return try await ask()
  } catch {
    throw AdminError(error)
  }
}

/// Reads what was sent, in an operator's words.
func shaped<Value>(_ read: () throws(JSONShapeError) -> Value) throws(AdminError) -> Value {
  do throws(JSONShapeError) {
    return try read()
  } catch {
    throw AdminError(.invalid, error.description)
  }
}
