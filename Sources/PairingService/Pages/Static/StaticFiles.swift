internal import RegentJSON

/// The static files of the `web` folder, served below addresses that contain a hash of their content.
///
/// A changed file has a new address, so browsers may cache the files for a year. The logos and the OpenAPI document
/// have no hash and are cached for five minutes at most; `favicon.ico` has none and is not cached.
package struct StaticFiles: Sendable {
  package struct File: Sendable {
    package let bytes: [UInt8]
    package let headers: [(name: String, value: String)]
  }

  private var byPath: [String: File] = [:]
  private var paths: [String: SafePath] = [:]

  static let folder = SafePath(["static"])

  /// Reads every file of the folder `static`, and replaces addresses inside the web manifest by the hashed ones.
  ///
  /// `base` is the path of the public address, put before the addresses inside these files.
  init(_ web: WebFiles, base: String = "") throws(WebFileError) {
    var manifests: [(String, [UInt8])] = []
    for (name, bytes) in web.inside("static") {
      if name.hasSuffix(".webmanifest") {
        manifests.append((name, bytes))
      } else {
        try add(name, bytes)
      }
    }
    // Manifests are added last, because they contain the addresses of the other files.
    for (name, bytes) in manifests { try add(name, try linked(name, bytes, base)) }
    for (name, bytes) in web.inside("logos") { try addLogo(name, bytes) }
    // Browsers request this path without a link to it. The path has no hash, so the file must not be cached.
    if let icon = web.contents["static/favicon.ico"] {
      byPath["/favicon.ico"] = File(
        bytes: icon,
        headers: [("Content-Type", "image/x-icon"), SecurityHeaders.neverStored])
    }
    // The OpenAPI document is part of the `web` folder, so that its version always matches the pages.
    if let description = web.contents["openapi.json"] {
      byPath["/openapi.json"] = File(
        bytes: try placed(description, base),
        headers: [
          ("Content-Type", "application/json"), SecurityHeaders.neverStored,
          // All origins may read the document, because documentation viewers run on pages of other origins.
          ("Access-Control-Allow-Origin", "*"),
        ])
    }
  }

  /// The static file at the path of a request (without the query); nil when there is none.
  package func file(at path: String) -> File? { byPath[path] }

  func path(of name: String) -> SafePath? { paths[name] }

  /// The static files by their paths.
  package var all: [String: File] { byPath }

  private mutating func add(_ name: String, _ bytes: [UInt8]) throws(WebFileError) {
    guard let dot = name.lastIndex(of: "."), !name.contains("/") else {
      throw WebFileError("static/\(name)", "files lie directly in static and have a suffix")
    }
    let suffix = String(name[name.index(after: dot)...])
    guard let type = StaticFiles.types[suffix] else {
      throw WebFileError("static/\(name)", "the type of .\(suffix) is not known")
    }
    let path = StaticFiles.folder.step("\(name[..<dot]).\(hash(bytes)).\(suffix)")
    paths[name] = path
    byPath[path.text] = File(
      bytes: bytes,
      headers: [("Content-Type", type), StaticFiles.keptForEver])
  }

  /// Adds a logo.
  ///
  /// Requestors and providers name their logo as `/logos/NAME`, without a hash, so browsers may cache it for five
  /// minutes only.
  private mutating func addLogo(_ name: String, _ bytes: [UInt8]) throws(WebFileError) {
    let suffix = String(name.drop { $0 != "." }.dropFirst())
    let isPlain = name.utf8.allSatisfy {
      $0 > 0x20 && $0 < 0x7F && !Array("/{}[]()%".utf8).contains($0)
    }
    guard isPlain, ["svg", "png"].contains(suffix), let type = StaticFiles.types[suffix] else {
      throw WebFileError("logos/\(name)", "a logo is an SVG or PNG file with a plain name")
    }
    byPath[SafePath(["logos"]).step(name).text] = File(
      bytes: bytes, headers: [("Content-Type", type), ("Cache-Control", "public, max-age=300")])
  }

  static let keptForEver = (
    name: "Cache-Control", value: "public, max-age=31536000, immutable"
  )

  private static let types = [
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "webmanifest": "application/manifest+json",
  ]

  /// Replaces the addresses of icons in a web manifest by those of this service.
  private func linked(_ name: String, _ bytes: [UInt8], _ base: String) throws(WebFileError)
    -> [UInt8]
  {
    let file = "static/\(name)"
    guard var manifest = try json(file, bytes).object, let icons = manifest["icons"]?.array else {
      throw WebFileError(file, "an object with icons was expected")
    }
    var linked: [JSONValue] = []
    for icon in icons {
      guard var members = icon.object, let source = members["src"]?.string else {
        throw WebFileError(file, "an icon without src")
      }
      guard let path = paths[source] else { throw WebFileError(file, "there is no icon \(source)") }
      members["src"] = .string(path.below(base))
      linked.append(.object(members))
    }
    manifest["icons"] = .array(linked)
    manifest["start_url"] = .string(SafePath.root.below(base))
    return manifest.bytes()
  }

  /// Adds the base path of this service to the OpenAPI document, as its server.
  private func placed(_ bytes: [UInt8], _ base: String) throws(WebFileError) -> [UInt8] {
    guard !base.isEmpty else { return compact(bytes) }
    let file = "openapi.json"
    guard var description = try json(file, bytes).object else {
      throw WebFileError(file, "an object was expected")
    }
    var server = JSONObject()
    server["url"] = .string(SafePath.root.below(base))
    description["servers"] = .array([.object(server)])
    return description.bytes()
  }

  /// Removes the white space between the tokens of a JSON text, a third of the OpenAPI document.
  private func compact(_ json: [UInt8]) -> [UInt8] {
    func forEachKept(_ body: (UInt8) -> Void) {
      var (isInString, isEscaped) = (false, false)
      for byte in json {
        if !isInString {
          isInString = byte == UInt8(ascii: "\"")
          if byte > 0x20 { body(byte) }
          continue
        }
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        body(byte)
      }
    }
    // The bytes are counted first, because the array stays in memory as large as it was reserved.
    var count = 0
    forEachKept { _ in count += 1 }
    var kept: [UInt8] = []
    kept.reserveCapacity(count)
    forEachKept { kept.append($0) }
    return kept
  }

  private func json(_ file: String, _ bytes: [UInt8]) throws(WebFileError) -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(reading: bytes)
    } catch {
      throw WebFileError(file, "\(error)")
    }
  }
}

/// The FNV-1a hash of the bytes, with 64 bits.
///
/// It distinguishes versions of this project's own files; a collision gives an attacker nothing.
private func hash(_ bytes: [UInt8]) -> String {
  var value: UInt64 = 0xcbf2_9ce4_8422_2325
  for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  let digits = String(value, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
