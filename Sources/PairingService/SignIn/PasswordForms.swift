internal import PairingStore
internal import PasswordHashing
internal import RegentPairing
internal import RegentPlatform

/// In which forms, besides our own, passwords at each provider are stored: those of another program, and of earlier
/// work factors.
///
/// The time of a wrong password would say whether an account was imported, signed in since, or is none at all. So every
/// check at a provider makes one hash in each of its forms. That costs everybody there as long as one account is left;
/// hence few forms, none of which may cost much.
final class PasswordForms: Sendable {
  /// Different forms at one provider.
  static let most = 4
  /// What all of them may cost together, in thousandths of what one may.
  static let mostWork = 2 * PasswordForm.mostWork

  private struct State {
    var forms: [ProviderID: Set<PasswordForm>] = [:]
    /// Imports that have begun: what they write is not in the store yet.
    var underWay = 0
    var begun = 0
  }

  private let own: String
  private let store: any Store
  private let state = Locked(State())

  /// Reads the forms.
  init(_ store: any Store, own parameters: Argon2Parameters) async throws {
    self.store = store
    own = PasswordForms.beginning(of: parameters)
    try await recount()
  }

  func forms(at provider: ProviderID) -> Set<PasswordForm> { state.withLock { $0.forms[provider] ?? [] } }

  /// Why the passwords of accounts cannot all be stored at a provider; nil when they can.
  func problem(with new: Set<PasswordForm>, at provider: ProviderID) -> String? {
    Self.problem(with: forms(at: provider).union(new))
  }

  /// Has every check at a provider count with new forms, while `write` stores passwords in them.
  func adding<Value>(
    _ new: [ProviderID: Set<PasswordForm>], _ write: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    state.withLock { state in
      state.underWay += 1
      state.begun += 1
      for (provider, forms) in new { state.forms[provider, default: []].formUnion(forms) }
    }
    defer { state.withLock { $0.underWay -= 1 } }
    return try await write()
  }

  /// Looks which forms there still are: each right password takes one of another form away.
  func recount() async throws(StoreError) {
    let before = state.withLock { $0.underWay == 0 ? $0.begun : -1 }
    let own = own
    let found = try await store.passwordForms { text in
      // Most are our own: they need no reading.
      if text.utf8.starts(with: own.utf8) { return nil }
      return (try? PasswordHash(reading: text))?.form.example.text
    }
    let forms = found.mapValues { examples in
      Self.bounded(examples.compactMap { try? PasswordHash(reading: $0).form })
    }
    state.withLock { state in
      guard state.begun == before else { return }
      state.forms = forms.filter { !$0.value.isEmpty }
    }
  }

  /// Whether any account is left whose password another program hashed.
  var isEmpty: Bool { state.withLock { $0.forms.isEmpty } }

  /// What fits, the dearest first: more can only be there when somebody wrote them into the file.
  private static func bounded(_ forms: [PasswordForm]) -> Set<PasswordForm> {
    var result: Set<PasswordForm> = []
    for form in forms.sorted(by: { $0.work > $1.work }) where problem(with: result.union([form])) == nil {
      result.insert(form)
    }
    return result
  }

  private static func problem(with forms: Set<PasswordForm>) -> String? {
    guard forms.count > most || forms.reduce(0, { $0 + $1.work }) > mostWork else { return nil }
    let names = forms.map(\.name).sorted().joined(separator: ", ")
    return "its passwords would be hashed in too many ways for each sign-in to try them all: \(names)"
  }

  private static func beginning(of one: Argon2Parameters) -> String {
    "$argon2id$v=19$m=\(one.memory),t=\(one.passes),p=\(one.lanes)$"
  }
}
