import PostgreSQL
import TestSupport
import Testing

@Suite("Database URLs")
struct ConnectionURLTests {
  private typealias Host = ConnectionSettings.Host

  @Test func `a URL names the user, the hosts and the database`() throws {
    let settings = try ConnectionSettings(
      url: "postgresql://regent@db1.example.org:6432,[::1],db%32.example.org/tv%20db")
    #expect(settings.user == "regent")
    #expect(settings.database == "tv db")
    #expect(
      settings.hosts == [
        Host(name: "db1.example.org", port: 6432), Host(name: "::1"), Host(name: "db2.example.org"),
      ])
    #expect(settings.tls == nil && settings.hostPatience == .seconds(3))
  }

  @Test func `a URL may set the TLS mode, the authority and the timeout`() throws {
    let settings = try ConnectionSettings(
      url: "postgres://db.example.org/tv?sslmode=verify-ca&sslrootcert=/etc/ca.pem&connect_timeout=7"
        + "&application_name=a%26b&target_session_attrs=read-write")
    #expect(settings.tls == .verifyAuthority && settings.authorities == "/etc/ca.pem")
    #expect(settings.hostPatience == .seconds(7) && settings.applicationName == "a&b" && settings.user == nil)
  }

  @Test func `a URL without hosts means Debian's Unix socket, and the host parameter another one`() throws {
    #expect(try ConnectionSettings(url: "postgresql:///tv").hosts == [Host(name: "/run/postgresql")])
    #expect(try ConnectionSettings(url: "postgresql:///tv?host=/srv/db").hosts == [Host(name: "/srv/db")])
    #expect(try ConnectionSettings(url: "postgresql://%2Fsrv%2Fdb:77/tv").hosts == [Host(name: "/srv/db", port: 77)])
  }

  @Test(arguments: [
    "postgresql://regent:hunter2@db/tv", "postgresql://regent:@db/tv", "postgresql://regent@db/tv?password=hunter2",
    "postgresql://a:hunter2@b@db/tv", "postgresql://db/tv?sslmode=require&passfile=/root/hunter2",
  ])
  func `a URL with a password is refused, and the error does not show the password`(url: String) throws {
    let error = try failure { _ = try ConnectionSettings(url: url) }
    #expect(error.kind == .settings && error.message.contains("holds a password"))
    #expect(!"\(error) \(error.hint ?? "")".contains("hunter2"))
  }

  @Test(arguments: [
    ("mysql://db/tv", "begins with postgresql://"), ("postgresql://db", "names no database"),
    ("postgresql://db/", "names no database"), ("postgresql://db/a/b", "names no database"),
    ("postgresql://db:0/tv", "port"), ("postgresql://db:70000/tv", "port"), ("postgresql://db:x/tv", "port"),
    ("postgresql://a,,b/tv", "a host"), ("postgresql://[zz]/tv", "no address"), ("postgresql://d b/tv", "a host"),
    ("postgresql://db/%zz", "database's name"), ("postgresql://db/tv?sslmode=prefer", "verify-full"),
    ("postgresql://db/tv?sslmode=allow", "verify-full"), ("postgresql://db/tv?sslrootcert=ca.pem", "whole path"),
    ("postgresql://db/tv?connect_timeout=0", "1 to 60"), ("postgresql://db/tv?sslcompression=1", "sslcompression"),
    ("postgresql://db/tv?sslmode=require&sslmode=disable", "twice"), ("postgresql://db/tv?host=/srv", "Unix socket"),
    ("postgresql://db/tv?target_session_attrs=any", "read-write"), ("postgresql://db/tv?sslmode", "no value"),
    ("postgresql://db/tv?%1b[31m=1", "?[31m"),
  ])
  func `an invalid URL is refused with an error that names the wrong part`(url: String, words: String) throws {
    let error = try failure { _ = try ConnectionSettings(url: url) }
    #expect(error.kind == .settings)
    #expect(error.message.contains(words), "\(error)")
  }

  @Test func `a URL with more than 16 hosts is refused`() throws {
    let hosts = (0..<17).map { "db\($0)" }.joined(separator: ",")
    #expect(try failure { _ = try ConnectionSettings(url: "postgresql://\(hosts)/tv") }.message.contains("16"))
  }
}
