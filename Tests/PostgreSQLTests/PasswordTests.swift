import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@Suite("Passwords for PostgreSQL")
struct PasswordTests {
  private func settings(_ source: PasswordSource) throws -> ConnectionSettings {
    var settings = try ConnectionSettings(url: sharedServer().tcpURL("locked"))
    settings.password = source
    return settings
  }

  @Test func `the password is read from a private file again for each connection`() throws {
    try withTemporaryFolder { folder in
      let settings = try settings(.file("\(folder)/password"))
      try writeFile("\(folder)/password", Array("wrong horse\n".utf8))
      let error = try failure { _ = try Connection.open(settings, by: soon) }
      #expect(error.kind == .refused && error.message.contains("refused the password (28P01)"), "\(error)")
      #expect(!"\(error)\(error.hint ?? "")".contains("wrong horse"))
      try writeFile("\(folder)/password", Array("correct horse\n".utf8))
      #expect(try Connection.open(settings, by: soon).isOpen)
    }
  }

  @Test func `the password is found in a list of servers in the format of .pgpass`() throws {
    try withTemporaryFolder { folder in
      let port = try sharedServer().port
      let lines = """
        # servers
        127.0.0.1:\(port):other:locked:no
        other.example.org:*:*:*:no
        *:\(port):regent:locked:correct\\ horse

        """
      try writeFile("\(folder)/list", Array(lines.utf8))
      #expect(try Connection.open(settings(.list("\(folder)/list")), by: soon).isOpen)
      try writeFile("\(folder)/list", Array("*:1:*:*:correct horse".utf8))
      let error = try failure { _ = try Connection.open(settings(.list("\(folder)/list")), by: soon) }
      #expect(error.kind == .refused && error.message.contains("asks for a password"), "\(error)")
    }
  }

  @Test func `a password file that other users can read is refused`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/password", Array("correct horse".utf8), mode: 0o644)
      let error = try failure { _ = try Connection.open(settings(.file("\(folder)/password")), by: soon) }
      #expect(error.kind == .settings && error.message.contains("mode 644"), "\(error)")
      #expect(error.hint?.contains("chmod") == true)
    }
  }

  @Test(arguments: ["", "\n", "two\nlines", "zero\u{0}byte"])
  func `a password file must hold exactly one line`(content: String) throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/password", Array(content.utf8))
      let error = try failure { _ = try Connection.open(settings(.file("\(folder)/password")), by: soon) }
      #expect(error.kind == .settings && error.message.contains("one line"), "\(error)")
    }
  }

  @Test func `a password is looked for in a given file, then in the systemd credentials, then in .pgpass`() throws {
    try withTemporaryFolder { folder in
      func find(_ file: String? = nil) throws -> PasswordSource {
        try PasswordSource.find(file: file, environment: ["CREDENTIALS_DIRECTORY": folder], home: folder)
      }
      #expect(try find() == .none)
      try writeFile("\(folder)/.pgpass", [])
      #expect(try find() == .list("\(folder)/.pgpass"))
      try writeFile("\(folder)/database-password", [], mode: 0o440)
      #expect(try find() == .file("\(folder)/database-password"))
      #expect(try find("/etc/regent/password") == .file("/etc/regent/password"))
    }
  }

  @Test(arguments: ["PGPASSWORD", "PGOPTIONS", "PGSERVICE"])
  func `environment variables of libpq are refused and not silently used`(name: String) throws {
    let error = try failure {
      _ = try PasswordSource.find(file: nil, environment: [name: "hunter2"], home: nil)
    }
    #expect(error.kind == .settings && error.message.contains(name) && !"\(error)".contains("hunter2"))
  }
}
