internal import PairingStore
internal import PasswordHashing
internal import RegentPairing
internal import RegentPlatform

/// The formats (algorithm and work factors) of the stored password hashes at each provider that differ from the current
/// one.
///
/// They come from another program's import or from earlier work factors. The time of a failed check would reveal
/// whether an account was imported, has signed in since, or does not exist. So each check at a provider computes one
/// hash in every format of that provider. All sign-ins there pay for this until the last such account is gone, so few
/// formats are allowed and each must be cheap.
final class PasswordForms: Sendable {
  /// The maximum number of hash formats at one provider besides the current one.
  static let most = 4
  /// The maximum work of all hash formats of a provider together, in thousandths of the maximum work of one.
  static let mostWork = 2 * PasswordForm.mostWork

  private struct PasswordFormsState {
    var forms: [ProviderID: Set<PasswordForm>] = [:]
    /// The number of account imports in progress.
    ///
    /// The store may not have their passwords yet.
    var underWay = 0
    var begun = 0
  }

  private let own: String
  private let store: any Store
  private let state = Locked(PasswordFormsState())

  init(_ store: any Store, own parameters: Argon2Parameters) async throws {
    self.store = store
    own = PasswordForms.beginning(of: parameters)
    try await recount()
  }

  func forms(at provider: ProviderID) -> Set<PasswordForm> { state.withLock { $0.forms[provider] ?? [] } }

  /// The reason why passwords with hashes in these formats cannot be added at a provider; nil when they can.
  func problem(with new: Set<PasswordForm>, at provider: ProviderID) -> String? {
    Self.problem(with: forms(at: provider).union(new))
  }

  /// Makes every password check at a provider include the new hash formats, then calls `write`, which stores passwords
  /// in them.
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

  /// Reads from the store which hash formats are still in use.
  ///
  /// A successful sign-in rehashes the password with the current parameters and so can remove the last use of a format.
  func recount() async throws(StoreError) {
    let before = state.withLock { $0.underWay == 0 ? $0.begun : -1 }
    let own = own
    let found = try await store.passwordForms { text in
      // Most hashes have the current parameters. They are skipped without parsing.
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

  /// Whether every stored password hash has the current format.
  var isEmpty: Bool { state.withLock { $0.forms.isEmpty } }

  /// Reduces the hash formats of a provider to the limits, keeping the most expensive ones.
  ///
  /// The store can exceed the limits only if an operator changed the database directly.
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
