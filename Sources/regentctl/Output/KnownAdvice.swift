import Administration

/// The advice that `doctor` and `why` may print.
///
/// Root copies these lines into a shell, and the service that sends them has fewer rights than root. So regentctl
/// prints only its own texts. A placeholder `{}` stands for one shell word: an id, an address or a quoted name. No text
/// has a command that changes files at a place which the service chooses.
enum KnownAdvice {
  /// The finding with its advice, or with a note in place of advice that is not one of ``texts``.
  static func checked(_ finding: Finding) -> Finding {
    guard let fix = finding.fix, !isKnown(fix) else { return finding }
    return Finding(
      finding.check, finding.status, finding.detail,
      fix: "not shown: the service sent advice that this regentctl does not know; run sudo regentd check, or see the "
        + "service's log: journalctl -u regentd -n 20")
  }

  static func isKnown(_ advice: String) -> Bool {
    let advice = Array(advice.utf8)
    return texts.contains { fits(advice[...], Array($0.utf8)[...]) }
  }

  private static func fits(_ advice: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    var (advice, text) = (advice, text)
    while let next = text.first {
      if text.starts(with: "{}".utf8) {
        guard let word = word(advice) else { return false }
        advice = word
        text = text.dropFirst(2)
        continue
      }
      guard advice.first == next else { return false }
      advice = advice.dropFirst()
      text = text.dropFirst()
    }
    return advice.isEmpty
  }

  /// The rest after one word of a POSIX shell, as `shellQuoted` writes it; nil if there is none, or an option.
  private static func word(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = text
    while let next = rest.first {
      if next == UInt8(ascii: "'") {
        // Without a closing quotation mark it is that of a text which puts the placeholder between two of them.
        guard let end = rest.dropFirst().firstIndex(of: next) else { break }
        rest = rest[(end + 1)...]
      } else if rest.starts(with: "\\'".utf8) {
        rest = rest.dropFirst(2)
      } else if isPlain(next), next != UInt8(ascii: "-") || rest.startIndex != text.startIndex {
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    // A comma or semicolon after the word belongs to the sentence.
    while rest.startIndex > text.startIndex, text[rest.startIndex - 1] == UInt8(ascii: ",") {
      rest = text[(rest.startIndex - 1)...]
    }
    return rest.startIndex == text.startIndex ? nil : rest
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "/._-+:@,=%[]".utf8.contains(byte)
    }
  }

  /// The texts, sorted.
  ///
  /// A test compares them with the service's sources.
  static let texts = [
    "add --tls-certificate and --tls-key, or name the proxy: --trust-proxy ADDRESS; without TLS use "
      + "--public-url {}",
    "add a certificate at the load balancer, and start every node with --public-url https://NAME",
    "allow only the service to connect to the database; pg_stat_activity lists the sessions",
    "before the next restart, give the unit the key again (LoadCredential=)",
    "behind a pooler, use session mode or the server's own port; if LISTEN cannot work, use --wakeups poll",
    "check it: ls -ld {}",
    "check its log and the network; pg_stat_replication shows its position",
    "check that it is an address of this machine, and that this user may use the port",
    "check that the node runs and reaches the database; a removed node is forgotten after a day",
    "check that the server runs and admits this role: pg_isready, psql",
    "check that this is the file you meant",
    "check the clock, then make a new backup: regentctl backup FILE",
    "check the clock: timedatectl",
    "check the clock: timedatectl; set it if it is wrong, and wait if it is right",
    "check the clock: timedatectl; set it if it is wrong; if it is right, this warning ends by itself",
    "check the path: {}",
    "check the server's disk, its standby and the network; pg_stat_activity shows what waits",
    "check this machine's clock: timedatectl; if it is right, run sudo regent doctor on the boxes",
    "check which roles can write to the database; an earlier backup may have what is missing",
    "check who can write to {}; an earlier backup may have what is missing",
    "compare both with the real time, and correct the wrong one: timedatectl on the node or the database server",
    "did you mean {}?",
    "end the session whose transaction is hours old: SELECT pid, usename, xact_start FROM pg_stat_activity "
      + "ORDER BY xact_start LIMIT 1, then pg_terminate_backend",
    "enrol the box again: run regentctl requestor invite {}, then regent setup on the box",
    "for a box, run regentctl requestor invite {}; for another app, regentctl key issue {}",
    "free space before the disk is full: du -xh {}",
    "free space there; the service then continues by itself: df -h",
    "free space; sign-ins then continue by themselves: df -h {}; du -xh {}",
    "free space; the service then continues by itself: df -h {}; du -xh {}",
    "get a certificate for {}, or correct --public-url",
    "groupadd --system {}",
    "if it is not needed, run regentctl client remove {}",
    "list the settings: regentd serve --help",
    "list them: regentctl audit export | grep row.tampered; then restore a backup",
    "move it away, or choose another path",
    "name the real file instead: readlink -f {}",
    "pg_stat_activity shows what it waits for; SyncRep means the standby",
    "put a streaming standby's application_name into synchronous_standby_names, or start the standby",
    "put the key file back, or run regentctl master-key change while the service runs: it writes a new key file",
    "raise the limit of open files (ulimit -n) or of tasks",
    "regentctl account add {} NAME",
    "regentctl account add {} {}, then sign the box in again",
    "regentctl account enable {} {}",
    "regentctl account password {} {}",
    "regentctl account set {} {} --rating SCHEME=VALUE",
    "regentctl doctor",
    "regentctl entitle add {} --allow '*'",
    "regentctl entitle add {} --allow {}",
    "regentctl entitle add {} --allow {} --account {}",
    "regentctl integrate {} PROVIDER",
    "regentctl integrate {} {}",
    "regentctl integrate {} {} --degrade off",
    "regentctl integrate {} {} --on",
    "regentctl integrate {} {} --sso on",
    "regentctl provider set {} --boarding {}",
    "regentctl requestor add ID --name NAME",
    "regentctl requestor add ID --name NAME --platform on",
    "regentctl requestor add {}",
    "regentctl requestor set {} --certificate FILE",
    "regentctl requestor set {} --number-matching off",
    "regentctl requestor set {} --registration statement",
    "regentctl signing-key rotate --purpose {} --algorithm {}",
    "renew it, then run systemctl reload regentd",
    "run regentctl backup FILE, preferably every night: see backup.md (package regent-doc)",
    "run regentctl entitle remove {}, or regentctl entitle add {} --allow {}",
    "run regentctl entitle remove {}, or regentctl entitle add {} --allow {} --account {}",
    "run regentctl entitle remove {}, or {}",
    "run sudo regentctl setup --public-url http://LAN-ADDRESS:{} with an address that hostname -I shows; "
      + "without the package: regentd serve --listen '*:{}' --public-url http://LAN-ADDRESS:{}",
    "run sudo regentctl setup --public-url https://NAME with --proxy or --certificate",
    "compare the proxy's settings with the sample for it; install.md names the folder of the samples",
    "run sudo regentctl setup --public-url {} --proxy; without the package: regentd serve --trust-proxy {}, "
      + "if only the proxy can connect from there",
    "see which boxes request them: regentctl code list; or raise --live-codes",
    "see who and from where: regentctl audit tail --action code.report",
    "set its machine's clock (timedatectl timesync-status); the node then serves again by itself",
    "set synchronous_standby_names to a standby: see postgresql.md (package regent-doc)",
    "sign the box out, then in again: regentctl device sign-out {}",
    "start all nodes with the load balancer's address as --public-url",
    "start every node with the load balancer's address: regentd serve --public-url https://NAME",
    "start it with the address that phones open: regentd serve --public-url URL",
    "start the standby, or empty synchronous_standby_names on the primary; never cancel waiting commits",
    "stop that program, or choose another address with --listen",
    "stop the service, then run regentctl restore BACKUP",
    "switch all three on, in postgresql.conf and for this role",
    "systemctl reload regentd",
    "systemctl restart regentd",
    "to see it, GRANT pg_read_all_stats to the service's role",
    "upgrade the older nodes, one release at a time",
    "use the file with the whole chain (fullchain.pem); install an authority of your own on each phone and "
      + "box (ca-file)",
    "use the pooler's session mode, or connect to the server's own port",
    "use the same time server on both machines: timedatectl timesync-status",
    "REVOKE CREATE ON SCHEMA {} FROM PUBLIC",
    "GRANT CONNECT ON DATABASE {} TO {}; REVOKE CONNECT ON DATABASE {} FROM PUBLIC",
    "SELECT pg_terminate_backend({}); then allow only the service to connect to the database",
    "use files in PEM format, with a key that matches the certificate",
  ]
}
