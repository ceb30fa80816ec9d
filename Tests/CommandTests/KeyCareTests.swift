import TestSupport
import Testing

/// Changes every key of the service while a box is signed in.
@Suite struct `Changing keys while a box is signed in` {
  @Test func `a signed-in box keeps working when any key is changed`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      var document = ""
      var oldToken = ""
      try withService(in: folder) { service in
        try provision(shell)
        try shell.get("regentctl key issue acme --json > old.json")
        var box = try ShellBox(shell, service, key: "old.json")
        let code = try box.code(device: "box-1")
        try shell.get("regentctl code approve \(code) --provider cable --account anna")
        let first = try box.signIn(device: "box-1")
        #expect(first.status == 200)
        document = first.body
        #expect(try authorized(box) == 200)
        oldToken = try box.mediaToken(device: "box-1", resource: "news-1")

        // The key pair that signs the box's calls: a new one is issued, the old one is retired, then revoked.
        try shell.get("regentctl key issue acme --json > new.json")
        let old = try shell.get("cut -d '\"' -f 4 old.json")
        try shell.get("regentctl key retire \(old)")
        #expect(try box.signIn(device: "box-1") == first)
        box.key = "new.json"
        #expect(try box.signIn(device: "box-1") == first)
        #expect(try authorized(box) == 200)
        try shell.get("regentctl key revoke \(old) --yes")
        #expect(try box.signIn(device: "box-1") == first)
        box.key = "old.json"
        #expect(try box.signIn(device: "box-1").status == 401)
        box.key = "new.json"

        // The key pair that signs the stored rows.
        let rows = try shell.get("regentctl key list acme | awk '$2 == \"rows\" { print $1 }'")
        try shell.get("regentctl key retire \(rows)")
        #expect(try box.signIn(device: "box-1") == first)
        #expect(try authorized(box, resource: "news-2") == 200)

        // The key that signs media tokens. Earlier tokens stay valid.
        try shell.get("regentctl signing-key rotate")
        try check(oldToken, shell)
        try check(try box.mediaToken(device: "box-1", resource: "news-1"), shell)

        // The master key, which encrypts all others.
        try shell.get("cp .local/state/regent/master-key before")
        try shell.get("regentctl master-key change --yes")
        #expect(try shell.type("cmp -s before .local/state/regent/master-key").status == 1)
        #expect(try box.signIn(device: "box-1") == first)
        #expect(try authorized(box, resource: "news-3") == 200)
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      // The next start finds every changed key.
      try withService(in: folder) { service in
        let box = try ShellBox(shell, service, key: "new.json")
        let again = try box.signIn(device: "box-1")
        #expect(again.status == 200 && again.body == document)
        #expect(try authorized(box) == 200)
        try check(oldToken, shell)
        try check(try box.mediaToken(device: "box-1", resource: "news-1"), shell)
        #expect(try shell.get("regentctl doctor").contains("all signatures are valid"))

        // Revoking the rows' key is the one change that ends the sign-in.
        let new = try shell.get("grep -o '\"publicKey\":\"[^\"]*' new.json | cut -d '\"' -f 4")
        try shell.get("regentctl key issue acme --json > last.json")
        try shell.get("regentctl key revoke \(new) --rows --yes")
        var last = box
        last.key = "last.json"
        #expect(try last.signIn(device: "box-1").status == 404)
      }
    }
  }

  @Test func `a refused call is logged with its key and address`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try provision(shell)
        try shell.get("regentctl key issue acme --json > key.json")
        let box = try ShellBox(shell, service, key: "key.json")
        let key = try shell.get("cut -d '\"' -f 4 key.json")
        try shell.get("regentctl key revoke \(key) --yes")
        let revoked = try box.signIn(device: "box-1")
        try shell.get("sed -i 's/\(key)/nobodysKey/' key.json")
        let unknown = try box.signIn(device: "box-1")
        #expect(revoked.status == 401 && revoked == unknown)
        for line in [
          "call-refused reason=\"revoked key\" requestor=acme key=\(key) address=127.0.0.1",
          "call-refused reason=\"unknown key\" requestor=acme key=nobodysKey address=127.0.0.1",
        ] {
          let log = try service.log
          #expect(log.contains(" info \(line)\n"), "\(log)")
        }
      }
    }
  }

  private func provision(_ shell: Operator) throws {
    try shell.get("regentctl requestor add acme --domain tv.example.org")
    try shell.get("regentctl provider add cable --name Cable --kind local")
    try shell.get("regentctl account add cable anna --no-password")
    try shell.get("regentctl integrate acme cable")
    try shell.get("regentctl entitle add cable --allow 'news-*'")
  }

  private func authorized(_ box: ShellBox, resource: String = "news-1") throws -> Int {
    try box.call("GET", "/api/v1/authorize.json?deviceId=box-1&resource=\(resource)").status
  }

  private func check(_ token: String, _ shell: Operator) throws {
    try writeFile("\(shell.folder)/token", token.utf8)
    let verdict = try shell.get("regentctl token verify --requestor acme --resource news-1 < token")
    #expect(verdict.contains("good"))
  }
}
