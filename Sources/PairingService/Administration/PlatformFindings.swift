internal import Administration
internal import RegentPairing
internal import PairingStore

extension AdminCall {
  /// Finds settings that prevent single sign-on at providers for which it is switched on.
  func platformFindings() -> [Finding] {
    let records = core.provisioning.now.records
    let wanted = Set(
      records.integrations.values.joined().lazy.map(\.value).filter { $0.enabled && $0.singleSignOn }.map(\.provider))
    guard !wanted.isEmpty else { return switchedOffFindings() }
    var findings = wanted.sorted().compactMap { records.providers[$0] }.compactMap(Self.boardingFinding)
    if !records.requestors.values.contains(where: \.isPlatform) {
      findings.append(
        Finding(
          "platform", .warning, "single sign-on is on, but no box can have an account: no requestor has --platform on",
          fix: "regentctl requestor add ID --name NAME --platform on"))
    }
    return findings + switchedOffFindings()
  }

  /// Providers that are prepared for the accounts of boxes, and that no app may use that way.
  private func switchedOffFindings() -> [Finding] {
    let records = core.provisioning.now.records
    let all = records.integrations.values.joined().map(\.value).filter(\.enabled)
    func isBoxMaker(_ integration: Integration) -> Bool {
      records.requestors[integration.requestor]?.isPlatform == true
    }
    let ofBoxes = Set(all.filter(isBoxMaker).map(\.provider))
    return ofBoxes.sorted().compactMap { id -> Finding? in
      let apps = all.filter { $0.provider == id && !isBoxMaker($0) }
      guard records.providers[id]?.boarding == .supported, let first = apps.map(\.requestor).sorted().first,
        !apps.contains(where: \.singleSignOn)
      else { return nil }
      return Finding(
        "provider \(id)", .warning, "boxes can hold an account of this provider, but no app may use it: --sso is off",
        fix: "regentctl integrate \(first) \(id) --sso on")
    }
  }

  private static func boardingFinding(_ provider: Provider) -> Finding? {
    guard provider.boarding != .supported else { return nil }
    return Finding(
      "provider \(provider.id)", .warning,
      "single sign-on is on, but cannot be used: the provider's boarding is \(provider.boarding.rawValue)",
      fix: "regentctl provider set \(provider.id) --boarding \(BoardingStatus.supported.rawValue)")
  }
}
