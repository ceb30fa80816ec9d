internal import Administration
internal import RegentPairing
internal import PairingStore

extension AdminCall {
  /// Finds settings that prevent single sign-on at providers for which it is switched on.
  func platformFindings() -> [Finding] {
    let records = core.provisioning.now.records
    let wanted = Set(
      records.integrations.values.joined().lazy.map(\.value).filter { $0.enabled && $0.singleSignOn }.map(\.provider))
    guard !wanted.isEmpty else { return [] }
    var findings = wanted.sorted().compactMap { records.providers[$0] }.compactMap(Self.boardingFinding)
    if !records.requestors.values.contains(where: \.isPlatform) {
      findings.append(
        Finding(
          "platform", .warning, "single sign-on is on, but no box can have an account: no requestor has --platform on",
          fix: "regentctl requestor add ID --name NAME --platform on"))
    }
    return findings
  }

  private static func boardingFinding(_ provider: Provider) -> Finding? {
    guard provider.boarding != .supported else { return nil }
    return Finding(
      "provider \(provider.id)", .warning,
      "single sign-on is on, but cannot be used: the provider's boarding is \(provider.boarding.rawValue)",
      fix: "regentctl provider set \(provider.id) --boarding \(BoardingStatus.supported.rawValue)")
  }
}
