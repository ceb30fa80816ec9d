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
          "the key that signs \(purpose) tokens with \(algorithm.rawValue) is \(days) days old: a new one is due each year",
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
          "requestor \(requestor.id)", .warning, "every program may register itself as its client",
          fix: "regentctl requestor set \(requestor.id) --registration statement"))
    }
    // Checks only the first hundred clients: more warnings of the same kind would not help.
    let clients = try await stored { () throws(StoreError) in
      try await core.store.oauthClients(of: nil, after: nil, limit: 100)
    }
    if !clients.isEmpty, core.options.isReadableOnTheWay {
      findings.append(
        Finding(
          "oauth", .warning, "clients are told the issuer \(core.oauth.metadata.issuer): without TLS most refuse it",
          fix: "give --public-url with https, and --tls-certificate or a proxy in front"))
    }
    for requestor in Set(clients.map(\.requestor)).sorted()
    where core.provisioning.now.requestor(requestor)?.numberMatching == true {
      findings.append(
        Finding(
          "requestor \(requestor)", .warning,
          "its clients of OAuth get no codes: it asks for a number on the screen, which they cannot show",
          fix: "regentctl requestor set \(requestor) --number-matching off"))
    }
    for client in clients where client.paired == nil && now.since(client.created) > .seconds(30 * 86_400) {
      // An API that only introspects tokens never gets a viewer's approval, so it is no problem that such a client has
      // none.
      guard client.secret == nil || client.origin != .operator else { continue }
      findings.append(
        Finding(
          "client \(client.id)", .warning,
          "nobody has ever paired with \(client.name.quoted), which was added a month ago",
          fix: "regentctl client remove \(client.id)"))
    }
    return findings
  }
}
