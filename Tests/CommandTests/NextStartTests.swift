import Glibc
import TestSupport
import Testing

/// The service runs on without files that its next start needs.
///
/// Only these checks notice that they are lost.
@Suite struct `Files that the next start needs` {
  @Test func `doctor finds a lost or foreign master key, and master-key change writes a new one`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme")
        let key = "\(shell.state)/master-key"
        #expect(try shell.get("regentctl doctor | grep master-key").contains("ok    master-key"))
        try shell.get("mv \(key) \(folder)/old")
        let lost = try shell.type("regentctl doctor")
        #expect(
          lost.status == 1 && lost.outputText.contains("BAD   master-key: \(key) is missing"), "\(lost.outputText)")
        #expect(lost.outputText.contains("regentctl master-key change"))
        try shell.get("openssl rand -hex 32 > \(key) && chmod 600 \(key)")
        let foreign = try shell.type("regentctl doctor")
        #expect(foreign.outputText.contains("\(key) is not the key of this database"), "\(foreign.outputText)")
        try shell.get("rm \(key)")
        // The running service still has the key in memory, and keeps it for older backups.
        try shell.get("regentctl master-key change --yes")
        #expect(try shell.get("cmp \(folder)/old \(key).until-*") == "")
        #expect(try shell.get("regentctl doctor | grep master-key").contains("ok    master-key"))
        service.program.signal(SIGTERM)
        _ = try service.program.wait()
      }
      try withService(in: folder) { _ in
        let last = try shell.get("regentctl requestor list | tail -n 1")
        #expect(last.hasPrefix("acme"))
      }
    }
  }

  @Test func `a change of a lost master key that was interrupted is completed by the next start`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme")
        service.program.signal(SIGTERM)
        _ = try service.program.wait()
      }
      // The state after a kill between sealing the database and renaming the key file.
      try shell.get("mv \(shell.state)/master-key \(shell.state)/master-key.next")
      try withService(in: folder) { _ in
        let last = try shell.get("regentctl requestor list | tail -n 1")
        #expect(last.hasPrefix("acme"))
        #expect(try shell.type("test -e \(shell.state)/master-key.next").status == 1)
      }
    }
  }

  @Test func `doctor, check and readyz name a certificate that has expired or is for another host`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let tls = ["--tls-certificate", "\(folder)/pem", "--tls-key", "\(folder)/key"]
      let url = ["--public-url", "https://tv.example.org:8443"]
      try make(folder, "-days 90 -addext subjectAltName=DNS:other.example.org")
      let check = try shell.type(
        "regentd check --web \(packageFolder())/web \((tls + url).joined(separator: " "))")
      #expect(check.status == 1)
      #expect(
        check.errorText.contains("\(folder)/pem is for other.example.org, but phones open tv.example.org"),
        "\(check.errorText)")
      try withService(tls[0], tls[1], tls[2], tls[3], url[0], url[1], in: folder) { service in
        func doctor() throws -> String { try shell.type("regentctl doctor | grep -A1 certificate:").outputText }
        func expectDoctor(says words: String) throws {
          let said = try doctor()
          #expect(said.contains(words), "\(said)")
        }
        let ready = try eventually("the word of readiness") { () throws -> String? in
          let text = try shell.type("curl -sk \(service.url)/readyz").outputText
          return text.contains("nextStart") ? text : nil
        }
        #expect(ready.contains(#""nextStart":"certificate""#) && !ready.contains(folder), "\(ready)")
        try expectDoctor(says: "BAD   certificate: \(folder)/pem is for other.example.org")
        try makeExpired(folder)
        try expectDoctor(says: "has expired at 2025-02-01T00:00:00Z")
        try make(folder, "-days 90 -addext subjectAltName=DNS:tv.example.org")
        try expectDoctor(says: "was replaced, but the service still uses the old one")
        service.program.signal(SIGHUP)
        _ = try eventually("the reload") { try service.log.contains(" reloaded") ? true : nil }
        // The certificate is self-signed, so that no authority of this machine has signed it.
        try expectDoctor(says: "warn  certificate: \(folder)/pem is not trusted by this machine's certificate")
        try make(folder, "-days 3 -addext subjectAltName=DNS:tv.example.org")
        service.program.signal(SIGHUP)
        _ = try eventually("the reload") { try doctor().contains("expires at") ? true : nil }
        // The key does not belong to the certificate.
        try shell.get(
          "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out key 2>&1 && chmod 600 key")
        try expectDoctor(says: "the next start or reload fails")
        // The command that the unit runs before it sends the signal.
        let reload = try shell.type(
          "regentd check --settings-only --web \(packageFolder())/web \((tls + url).joined(separator: " "))")
        #expect(reload.status == 1 && reload.errorText.contains("\(folder)/key"), "\(reload.errorText)")
      }
    }
  }

  @Test func `settings without effect are named by the service, check and doctor`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let more = [
        "REGENT_LISTN": "x", "REGNT_TLS_KEY": "/key", "REGENT_PUBLIC_ULR": "y", "REGION_NAME": "eu",
        "REGENT_SOCKET": "\(shell.state)/admin.sock",
      ]
      let names = more.map { "\($0.key)='\($0.value)'" }.sorted().joined(separator: " ")
      let check = try shell.type("\(names) regentd check --settings-only --web \(packageFolder())/web")
      #expect(check.status == 0, "\(check.errorText)")
      #expect(
        check.errorText == """
          regentd: warning: there is no setting REGENT_LISTN: it has no effect
            hint: did you mean REGENT_LISTEN?
          regentd: warning: there is no setting REGENT_PUBLIC_ULR: it has no effect
            hint: did you mean REGENT_PUBLIC_URL?
          regentd: warning: there is no setting REGNT_TLS_KEY: it has no effect
            hint: did you mean REGENT_TLS_KEY?

          """)
      #expect(!check.outputText.contains("database"))
      try withService(
        "--listen", "*:0", "--public-url", "https://tv.example.org", environment: more, in: folder
      ) { service in
        let doctor = try shell.get("regentctl doctor | grep -A1 settings:")
        #expect(doctor.contains("warn  settings: there is no setting REGENT_LISTN"), "\(doctor)")
        #expect(doctor.contains("--public-url has https, but the service has no certificate on "), "\(doctor)")
        #expect(try service.log.contains("warning setting reason=\"there is no setting REGENT_LISTN"))
      }
    }
  }

  /// Uses `openssl ca`, because `openssl req` cannot make a certificate whose dates lie in the past.
  private func makeExpired(_ folder: String) throws {
    try Operator(folder: folder).get(
      """
      printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=idx\\nserial=ser\\nnew_certs_dir=.\\ndefault_md=sha256\\npolicy=p\\n[p]\\n' > ca.cnf
      echo commonName=supplied >> ca.cnf; touch idx; echo 01 > ser
      openssl req -new -key key -subj /CN=tv.example.org -out csr
      openssl ca -batch -notext -config ca.cnf -selfsign -keyfile key -in csr -out pem \
        -startdate 20250101000000Z -enddate 20250201000000Z 2> ca.log
      """)
  }

  private func make(_ folder: String, _ options: String) throws {
    let made = try run(
      "sh",
      [
        "-c",
        "cd '\(folder)' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=x "
          + "\(options) -keyout key -out pem && chmod 600 key",
      ])
    #expect(made.status == 0, "\(made.errorText)")
  }
}
