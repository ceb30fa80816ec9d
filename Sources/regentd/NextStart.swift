import Administration
import CommandKit
import HTTPServer
import PairingService
import PairingStore
import RegentCryptography
import RegentHTTPCodec
import RegentPlatform

/// Checks what the next start or reload of a running service needs: the master key and the certificate.
///
/// The running service no longer reads these files, so without the checks their loss would be noticed only at a
/// restart.
final class NextStart: Sendable {
  private let settings: ServiceSettings
  private let remarks: [SettingRemark]
  /// The key that the database was opened with.
  let key = HeldMasterKey()
  private let loaded = Locked<[UInt8]?>(nil)

  init(_ settings: ServiceSettings, _ remarks: [SettingRemark]) {
    (self.settings, self.remarks) = (settings, remarks)
    noteLoadedCertificate()
  }

  /// Remembers the certificate that the listeners have loaded.
  func noteLoadedCertificate() {
    guard let tls = settings.tls, let facts = try? CertificateFacts(of: tls, host: nil) else { return }
    loaded.withLock { $0 = facts.fingerprint }
  }

  /// The findings for `regentctl doctor`.
  func findings(of store: any OpenedStore) async -> [Finding] {
    var findings = [await masterKeyFinding(settings.paths, of: store)]
    if let tls = settings.tls {
      findings.append(
        tls.finding(
          for: settings.certificateHost, at: Clocks.wallMilliseconds() / 1000,
          loaded: loaded.withLock { $0 }))
    }
    findings += settings.paths.adminGroups.compactMap(\.finding)
    return findings + remarks.map { Finding("settings", .warning, $0.message, fix: $0.hint) }
  }

  /// Checks once a minute, logs problems, and reports them in `/readyz`.
  func watch(_ store: any OpenedStore, _ core: ServiceCore, _ log: Log) async {
    var told: String?
    while !Task.isCancelled {
      let wrong = await findings(of: store).first { $0.status == .bad }
      // Anyone can read `/readyz`, so it contains only the name of the check and no path.
      core.nextStartProblem.withLock { $0 = wrong?.check }
      let ends = settings.tls.flatMap { try? CertificateFacts(of: $0, host: nil).ends }
      core.monitored.withLock { $0.certificateEnds = ends }
      if let wrong, wrong.detail != told {
        log.error("next-start", ["reason": .text(wrong.detail), "hint": .text(wrong.fix ?? "")])
      }
      told = wrong?.detail
      try? await Task.sleep(for: .seconds(60))
    }
  }
}

extension AdminGroup {
  /// The finding about a group that was deleted, or deleted and created again, since the service started; nil if
  /// neither happened.
  var finding: Finding? {
    let now = try? Accounts.group(named: name)
    guard now != id else { return nil }
    return now == nil
      ? Finding(
        "admin-groups", .bad, "there is no group \(name): the next start of the service will fail",
        fix: "groupadd --system \(shellQuoted(name))")
      : Finding(
        "admin-groups", .warning,
        "the group \(name) was deleted and created again: its members cannot use regentctl until the service restarts",
        fix: "systemctl restart regentd")
  }
}

extension ServiceSettings {
  /// The host that the certificate must be for; nil behind a proxy, because phones see the proxy's certificate.
  var certificateHost: String? { proxies.isEmpty ? publicURL?.host.description : nil }
}

/// The master key that the database was opened with, for a key change after the key file was lost.
final class HeldMasterKey: Sendable {
  private let key = Locked<Secret?>(nil)

  var current: Secret? { key.withLock { $0 } }

  func hold(_ new: Secret) { key.withLock { $0 = new } }
}

/// Checks that the master key file exists, is private, and opens this database.
private func masterKeyFinding(_ paths: ServicePaths, of store: any OpenedStore) async -> Finding {
  func bad(_ detail: String) -> Finding {
    Finding(
      "master-key", .bad, "\(detail): the next start of the service will fail",
      fix: paths.masterKeyMode == 0o600
        ? "put the key file back, or run regentctl master-key change while the service runs: it writes a new key file"
        : "before the next restart, give the unit the key again (LoadCredential=)")
  }
  do {
    guard let key = try MasterKeyFile(paths).stored() else { return bad("\(paths.masterKey) is missing") }
    try await store.checkMasterKey(key)
    return Finding("master-key", .good, "\(paths.masterKey) is private and opens the database")
  } catch let error as FileError {
    return Finding("master-key", .bad, error.description, fix: error.hint)
  } catch let error as CommandError {
    return bad(error.message)
  } catch is StoreKeyFailure {
    return bad("\(paths.masterKey) is not the master key of this database")
  } catch {
    // The database does not answer, which another finding reports. This finding is about the key file only, which is
    // private.
    return Finding("master-key", .good, "\(paths.masterKey) is private")
  }
}

extension TLSFiles {
  /// How long before its end a certificate is reported, in seconds.
  ///
  /// Tools that renew certificates automatically do so earlier.
  private static let soon: Int64 = 14 * 86_400

  /// Checks the certificate as a phone would.
  ///
  /// - Parameters:
  ///   - host: the host of the public URL; nil if none is set.
  ///   - now: in seconds since 1970.
  ///   - loaded: the fingerprint of the certificate in use; nil if the service does not run.
  /// - Returns: the first problem, or the date until which the certificate is valid.
  func finding(for host: String?, at now: Int64, loaded: [UInt8]? = nil) -> Finding {
    func found(_ status: Finding.Status, _ detail: String, _ fix: String? = nil) -> Finding {
      Finding("certificate", status, detail, fix: fix)
    }
    let facts: CertificateFacts
    do {
      try check()
      facts = try CertificateFacts(of: self, host: host)
    } catch {
      let known = explained(error)
      return found(
        .bad, "\(known?.message ?? "\(error)"): the next start or reload fails",
        known?.hint ?? (error as? FileError)?.hint)
    }
    let ends = CivilDate.text(epochMilliseconds: facts.ends * 1000, fraction: false)
    let renew = "renew it, then run systemctl reload regentd"
    if facts.ends <= now {
      return found(.bad, "\(certificate) has expired at \(ends): phones and boxes refuse it", renew)
    }
    if facts.begins > now {
      let begins = CivilDate.text(epochMilliseconds: facts.begins * 1000, fraction: false)
      return found(
        .bad, "\(certificate) is not valid before \(begins): phones and boxes refuse it", "check the clock: timedatectl"
      )
    }
    if facts.isForHost == false, let host {
      let names = facts.names.prefix(5).joined(separator: ", ")
      return found(
        .bad, "\(certificate) is for \(names.isEmpty ? "no host" : names), but phones open \(host)",
        "get a certificate for \(host), or correct --public-url")
    }
    if let loaded, loaded != facts.fingerprint {
      return found(
        .warning, "\(certificate) was replaced, but the service still uses the old one", "systemctl reload regentd")
    }
    if facts.ends - now < Self.soon {
      return found(.warning, "\(certificate) expires at \(ends)", renew)
    }
    if let problem = facts.chainProblem {
      return found(
        .warning, "\(certificate) is not trusted by this machine's certificate authorities (\(problem))",
        "use the file with the whole chain (fullchain.pem); install an authority of your own on each phone and box (ca-file)"
      )
    }
    return found(.good, "\(certificate) is good until \(ends)")
  }
}
