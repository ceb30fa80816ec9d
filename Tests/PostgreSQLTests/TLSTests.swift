@testable import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@Suite("TLS to PostgreSQL")
struct PostgreSQLTLSTests {
  private func open(_ host: String, _ parameters: String) throws -> Connection {
    let server = try sharedServer()
    return try Connection.open(ConnectionSettings(url: server.tcpURL(host: host) + parameters), by: soon)
  }

  @Test(arguments: ["127.0.0.1", "localhost"])
  func `a certificate of the known authority for this host is accepted`(host: String) throws {
    let connection = try open(host, "?sslmode=verify-full&sslrootcert=\(sharedServer().authority)")
    #expect(connection.usesTLS)
  }

  @Test(arguments: ["verify-full", "verify-ca"])
  func `a certificate of an unknown authority is refused`(mode: String) throws {
    let error = try failure { _ = try open("localhost", "?sslmode=\(mode)&sslrootcert=\(sharedServer().stranger)") }
    #expect(error.kind == .untrusted && error.message.contains("could not prove who it is"), "\(error)")
    #expect(error.hint?.contains("sslrootcert") == true)
    // The machine's own list of authorities does not contain it either.
    #expect(try failure { _ = try open("localhost", "?sslmode=\(mode)") }.kind == .untrusted)
  }

  @Test func `a certificate for another host is refused, unless only its authority is checked`() throws {
    let (server, host) = (try sharedServer(), "127.0.0.2")
    let authority = "sslrootcert=\(server.authority)"
    #expect(try open("127.0.0.1", "?sslmode=verify-ca&\(authority)").usesTLS)
    let error = try failure { _ = try open(host, "?sslmode=verify-full&\(authority)") }
    #expect(error.kind == .untrusted || error.kind == .unreachable, "\(error)")
    if error.kind == .untrusted {
      #expect(error.hint == "name it in the URL as its certificate does, or give it a certificate for this name")
    }
  }

  @Test func `each TLS failure has a hint that fits its cause`() throws {
    let plain = try PostgreSQLServer(["ssl=off"])
    let none = try failure {
      _ = try Connection.open(
        ConnectionSettings(url: plain.tcpURL(host: "127.0.0.1") + "?sslmode=verify-full"), by: soon)
    }
    #expect(none.kind == .untrusted && none.message.contains("offers no TLS"), "\(none)")
    #expect(none.hint?.contains("ssl = on") == true && none.hint?.contains("sslrootcert") == false, "\(none)")
    let missing = try failure { _ = try open("127.0.0.1", "?sslmode=verify-full&sslrootcert=/nowhere/ca.pem") }
    #expect(missing.hint?.contains("may read the file") == true, "\(missing)")
    let old = try PostgreSQLServer(["ssl_min_protocol_version=TLSv1", "ssl_max_protocol_version=TLSv1.1"])
    let broken = try failure {
      _ = try Connection.open(ConnectionSettings(url: old.tcpURL(host: "127.0.0.1") + "?sslmode=verify-full"), by: soon)
    }
    #expect(broken.kind == .unreachable && broken.hint?.contains("openssl s_client") == true, "\(broken)")
  }

  @Test func `a remote server must prove its identity by default`() throws {
    let modes = try [
      "postgresql://db.example.org/tv", "postgresql://192.0.2.1/tv", "postgresql://127.0.0.1/tv",
      "postgresql://localhost/tv", "postgresql:///tv", "postgresql://db.example.org/tv?sslmode=disable",
    ].map { url in
      let settings = try ConnectionSettings(url: url)
      return settings.tlsMode(for: settings.hosts[0])
    }
    #expect(modes == ["verify-full", "verify-full", "prefer", "prefer", "disable", "disable"])
  }

  @Test func `a connection on the same machine uses TLS if the server offers it, unless sslmode disables it`() throws {
    #expect(try open("127.0.0.1", "").usesTLS)
    #expect(try !open("127.0.0.1", "?sslmode=disable").usesTLS)
    #expect(try !connect(sharedServer()).usesTLS)
  }
}
