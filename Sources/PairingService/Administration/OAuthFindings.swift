internal import Administration
internal import PairingStore
internal import RegentCryptography
internal import RegentOAuth
internal import RegentPairing

extension AdminCall {
  /// The age in days from which a signing key should be replaced.
  ///
  /// Keys do not expire by themselves, because from that moment all tokens would be refused. They should still be
  /// replaced, because an attacker with an unnoticed copy can sign for as long as the key is valid.
  private static let oldKey: Int64 = 365

  /// Warns of keys for signing tokens that are older than a year, whatever kind of token they sign.
  func keyFindings() -> [Finding] {
    [(core.mediaKeys, "media"), (core.oauth.keys, "oauth")].flatMap { keys, purpose in
      keys.newest.compactMap { algorithm, record in
        let days = now.since(record.created).wholeMilliseconds / 86_400_000
        guard days >= Self.oldKey else { return nil }
        return Finding(
          "signing-key", .warning,
          "the key that signs \(purpose) tokens with \(algorithm.rawValue) is \(days) days old; replace it once a year",
          fix: "regentctl signing-key rotate --purpose \(purpose) --algorithm \(algorithm.rawValue)")
      }
    }
  }

  /// Problems of OAuth clients, and settings for them that an operator may have forgotten.
  func oauthFindings() async throws(AdminError) -> [Finding] {
    var findings: [Finding] = []
    for requestor in core.provisioning.now.records.requestors.values.sorted(by: { $0.id < $1.id })
    where requestor.registration == .open {
      findings.append(
        Finding(
          "requestor \(requestor.id)", .warning, "any program may register itself as an OAuth client",
          fix: "regentctl requestor set \(requestor.id) --registration statement"))
    }
    // Checks only the first hundred clients: more warnings of the same kind would not help.
    let clients = try await stored { () throws(StoreError) in
      try await core.store.oauthClients(of: nil, after: nil, limit: 100)
    }
    if !clients.isEmpty, core.options.isReadableOnTheWay {
      findings.append(
        Finding(
          "oauth", .warning, "the issuer \(core.oauth.metadata.issuer) has no TLS: most OAuth clients refuse it",
          fix: "run sudo regentctl setup --public-url https://NAME with --proxy or --certificate"))
    }
    for requestor in Set(clients.map(\.requestor)).sorted()
    where core.provisioning.now.requestor(requestor)?.numberMatching == true {
      findings.append(
        Finding(
          "requestor \(requestor)", .warning,
          "OAuth clients of this requestor cannot sign in: number matching is on, and they cannot show a number",
          fix: "regentctl requestor set \(requestor) --number-matching off"))
    }
    for client in clients where client.paired == nil && now.since(client.created) > .seconds(30 * 86_400) {
      // An API that only introspects tokens never gets a viewer's approval, so it is no problem that such a client has
      // none.
      guard client.secret == nil || client.origin != .operator else { continue }
      findings.append(
        Finding(
          "client \(client.id)", .warning,
          "no device has signed in with \(client.name.quoted) since it was added a month ago",
          fix: "if it is not needed, run regentctl client remove \(client.id)"))
    }
    return findings
  }
}
