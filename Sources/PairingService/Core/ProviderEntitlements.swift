package import RegentPairing

/// The entitlement rules of one provider, indexed by the viewers to whom they apply.
///
/// A provider may have a rule for each of its accounts; a decision reads only the rules of one viewer.
package struct ProviderEntitlements: Sendable {
  private var everybody: [Entitlement] = []
  private var households: [HouseholdID: [Entitlement]] = [:]
  private var accounts: [AccountName: [Entitlement]] = [:]

  init(_ rules: [Entitlement]) {
    for rule in rules {
      switch rule.scope {
      case .everybody: everybody.append(rule)
      case .household(let one): households[one, default: []].append(rule)
      case .account(let one): accounts[one, default: []].append(rule)
      }
    }
  }

  package static let none = ProviderEntitlements([])

  /// The rules that apply to the viewer with this account; for a guest (nil), the rules that apply to all viewers.
  package func about(_ account: Account?) -> [Entitlement] {
    guard let account else { return everybody }
    let own = accounts[account.name] ?? []
    let shared = account.household.flatMap { households[$0] } ?? []
    return own.isEmpty && shared.isEmpty ? everybody : everybody + shared + own
  }
}
