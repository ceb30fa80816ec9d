package import Administration
internal import HTTPCodec
internal import JSON
internal import Pairing
internal import PairingStore

/// What the admin socket can do below the store: the program that opened the database does it.
package protocol AdminUpkeep: Sendable {
  /// Copies the database and checks the copy, its integrity and every signature, before it is called good.
  ///
  /// One copy is kept at a time; a new one replaces it.
  func makeBackup() async throws(AdminError) -> BackupEntry

  /// A part of the copy, at most so many bytes; empty behind its end.
  func backupPart(_ id: String, from offset: Int64, limit: Int) async throws(AdminError) -> [UInt8]

  /// Forgets the copy.
  func dropBackup(_ id: String) async throws(AdminError)

  /// Seals the data keys with a new master key, and says where it is.
  func changeMasterKey() async throws(AdminError) -> Finding

  /// What the checks of files, database and machine find.
  func findings() async -> [Finding]
}

extension AdminDesk {
  mutating func mountUpkeep(_ upkeep: any AdminUpkeep) {
    let started = core.clock.now
    on(.get, AdminPaths.service) { call throws(AdminError) in
      .document(
        ServiceInfo(
          version: call.core.options.version, started: started,
          publicURL: call.core.options.publicURL))
    }
    on(.get, AdminPaths.doctor) { call throws(AdminError) in
      .list(of: await upkeep.findings() + (await call.findings()))
    }
    on(.post, AdminPaths.changeMasterKey) { call throws(AdminError) in
      let finding = try await upkeep.changeMasterKey()
      await call.writeUpkeep("master-key.change", "master key")
      return .document(finding)
    }
    on(.post, AdminPaths.backups) { call throws(AdminError) in
      let entry = try await upkeep.makeBackup()
      await call.writeUpkeep("backup.make", entry.id)
      return .document(entry)
    }
    on(.get, AdminPaths.one(AdminPaths.backups, "{backup}")) { call throws(AdminError) in
      guard let offset = Int64(try call.parameter("offset") ?? "0"), offset >= 0 else {
        throw AdminError(.invalid, "offset is not a number from 0 on")
      }
      return .bytes(
        try await upkeep.backupPart(
          call.text("backup"), from: offset, limit: AdminPaths.backupPart))
    }
    on(.delete, AdminPaths.one(AdminPaths.backups, "{backup}")) { call throws(AdminError) in
      try await upkeep.dropBackup(call.text("backup"))
      return .done
    }
  }
}

extension AdminCall {
  /// A line for an act that the store does not carry in a transaction of its own.
  fileprivate func writeUpkeep(_ action: String, _ subject: String) async {
    await core.audit.write(.operator(`operator`), action, subject)
  }

  /// What the service itself can see to be wrong.
  fileprivate func findings() async -> [Finding] {
    let records = core.provisioning.now.records
    var findings: [Finding] = []
    if core.options.isPlainHTTP, !core.options.publicURL.isLoopbackURL {
      findings.append(
        Finding(
          "encryption", .warning,
          "phones open \(core.options.publicURL): passwords travel in clear",
          fix: "give --public-url with https, and --tls-certificate or a proxy in front"))
    }
    for requestor in records.requestors.keys.sorted() {
      if core.provisioning.now.rowKey(of: requestor) == nil {
        findings.append(
          Finding(
            "requestor \(requestor)", .bad, "it has no key pair that signs its rows",
            fix: "regentctl requestor add \(requestor)"))
      }
      let callKeys = records.keyPairs.values.filter {
        $0.requestor == requestor && $0.purpose == .calls && $0.state == .active
      }
      let applications = records.applications.values.filter {
        $0.requestor == requestor && !$0.isRevoked
      }
      if callKeys.isEmpty, applications.isEmpty {
        findings.append(
          Finding(
            "requestor \(requestor)", .warning, "no app of it can call: it has no key pair",
            fix: "regentctl key issue \(requestor)"))
      }
      if core.provisioning.now.choices[requestor, default: []].isEmpty {
        findings.append(
          Finding(
            "requestor \(requestor)", .warning, "viewers have nobody to sign in with",
            fix: "regentctl integrate \(requestor) PROVIDER"))
      }
    }
    if records.requestors.isEmpty {
      findings.append(
        Finding(
          "provisioning", .warning, "there is no requestor yet",
          fix: "regentctl requestor add ID --name NAME"))
    }
    if core.codes.pending * 10 >= core.options.limits.liveCodes * 9 {
      findings.append(
        Finding(
          "codes", .warning,
          "\(core.codes.pending) of \(core.options.limits.liveCodes) live codes are in use",
          fix: "see who asks for them: regentctl code list; raise --live-codes"))
    }
    if findings.isEmpty {
      findings.append(
        Finding("provisioning", .good, "requestors that are ready: \(records.requestors.count)"))
    }
    return findings
  }
}

extension String {
  fileprivate var isLoopbackURL: Bool {
    guard let url = try? AbsoluteURL(parsing: self) else { return false }
    switch url.host {
    case .address(let address): return address.isLoopback
    case .name(let name): return name == "localhost"
    }
  }
}
