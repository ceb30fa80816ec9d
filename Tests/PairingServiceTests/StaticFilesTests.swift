import RegentJSON
import Testing

@testable import PairingService

@Suite("Static files and security headers")
struct StaticFilesTests {
  private func files(_ contents: [String: String]) throws -> StaticFiles {
    var web = WebFiles([:])
    for (name, text) in contents { web.put("static/\(name)", Array(text.utf8)) }
    return try StaticFiles(web)
  }

  @Test func `a file's path changes with its content only`() throws {
    let one = try #require(files(["a.css": "b{}"]).path(of: "a.css"))
    #expect(try files(["a.css": "b{}", "b.js": ""]).path(of: "a.css") == one)
    #expect(try files(["a.css": "c{}"]).path(of: "a.css") != one)
    #expect(one.text.hasPrefix("/static/a.") && one.text.hasSuffix(".css"))
    #expect(one.text.utf8.count == "/static/a..css".utf8.count + 16)
  }

  @Test(arguments: [
    ("a.css", "text/css; charset=utf-8"), ("a.js", "text/javascript; charset=utf-8"),
    ("a.svg", "image/svg+xml"), ("a.png", "image/png"), ("a.ico", "image/x-icon"),
  ])
  func `a file has its content type and is cached for ever`(name: String, type: String) throws {
    let files = try files([name: "x"])
    let file = try #require(files.path(of: name).flatMap { files.file(at: $0.text) })
    #expect(file.bytes == [0x78])
    #expect(file.headers.map(\.name) == ["Content-Type", "Cache-Control"])
    #expect(file.headers.map(\.value) == [type, "public, max-age=31536000, immutable"])
  }

  @Test(arguments: [
    "/", "/static/", "/static/a.css", "/static/../a.css", "/static/a.0000000000000000.css",
    "/static/a.css?x", "/favicon.ico", "//static/a.css",
  ])
  func `other paths give no file`(path: String) throws {
    #expect(try files(["a.css": "x"]).file(at: path) == nil)
  }

  @Test(arguments: ["a", "a.exe", "a.html", "sub/a.css"])
  func `a file with an unexpected name or type is refused at start`(name: String) {
    #expect(throws: WebFileError.self) { try files([name: "x"]) }
  }

  @Test func `the favicon, which has a fixed path, is not cached`() throws {
    let icon = try #require(files(["favicon.ico": "x"]).file(at: "/favicon.ico"))
    #expect(icon.headers.map(\.value) == ["image/x-icon", "no-store"])
  }

  @Test func `the manifest names the icons by their hashed paths`() throws {
    let files = try files([
      "i.png": "x",
      "m.webmanifest": "{\"name\":\"R\",\"icons\":[{\"src\":\"i.png\",\"sizes\":\"1x1\"}]}",
    ])
    let path = try #require(files.path(of: "m.webmanifest"))
    let manifest = try JSONValue(reading: #require(files.file(at: path.text)).bytes)
    #expect(manifest["icons"]?[0]?["src"]?.string == files.path(of: "i.png")?.text)
    #expect(manifest["name"]?.string == "R")
  }

  @Test(arguments: ["[]", "{", "{\"icons\":[{}]}", "{\"icons\":[{\"src\":\"gone.png\"}]}", "{}"])
  func `a manifest without valid icons is refused at start`(text: String) {
    #expect(throws: WebFileError.self) { try files(["m.webmanifest": text]) }
  }

  @Test func `logos are served under their own names`() throws {
    let web = WebFiles(["logos/tv.svg": Array("<svg/>".utf8)])
    let logo = try #require(try StaticFiles(web).file(at: "/logos/tv.svg"))
    #expect(logo.headers.map(\.value) == ["image/svg+xml", "public, max-age=300"])
    for name in ["logos/a.gif", "logos/{x}.svg", "logos/a", "logos/b/c.svg"] {
      #expect(throws: WebFileError.self) { try StaticFiles(WebFiles([name: []])) }
    }
  }

  @Test func `every response has the security headers`() {
    let plain = SecurityHeaders(https: false).list
    let secure = SecurityHeaders(https: true).list
    let names = [
      "Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy",
      "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Permissions-Policy",
    ]
    #expect(plain.map(\.name) == names)
    #expect(secure.map(\.name) == names + ["Strict-Transport-Security"])
    #expect(SecurityHeaders.contentPolicy.hasPrefix("default-src 'none';"))
    #expect(!SecurityHeaders.contentPolicy.contains("unsafe"))
    for (_, value) in secure { #expect(value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }) }
  }
}
