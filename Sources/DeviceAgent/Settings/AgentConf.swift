import CommandKit
import RegentPlatform

/// The settings file: `name = value` lines with the names of the options, `#` before comments.
struct AgentConf: Sendable {
  private(set) var values: [String: [String]] = [:]
  /// The same with the places where they stand, for settings that may repeat.
  private(set) var entries: [String: [(text: String, place: String)]] = [:]
  let path: String

  /// Longer files are something else.
  private static let limit = 65_536

  /// No settings.
  init() { path = "" }

  /// Reads a file that others cannot write.
  init(path: String) throws(CommandError) {
    let bytes: [UInt8]
    do throws(FileError) {
      try PrivateFile.checkTarget(of: path, widest: 0o644)
      bytes = try DurableFile.read(path, limit: Self.limit, widest: nil)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    try self.init(text: String(decoding: bytes, as: UTF8.self), path: path)
  }

  init(text: String, path: String) throws(CommandError) {
    self.path = path
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.trimmingSpaces
      if line.isEmpty || line.hasPrefix("#") { continue }
      let place = "\(path) line \(index + 1)"
      guard let sign = line.firstIndex(of: "=") else {
        throw .usage("\(place) is not a setting", hint: "write it as: service = https://HOST")
      }
      let name = String(line[..<sign].trimmingSpaces)
      let value = String(line[line.index(after: sign)...].trimmingSpaces)
      guard Self.names.contains(name) else {
        throw .usage(
          "\(place): there is no setting \"\(name)\"",
          hint: "the settings are \(Self.names.joined(separator: ", "))")
      }
      guard !value.isEmpty else { throw .usage("\(place): \(name) has no value") }
      guard Self.repeatable.contains(name) || values[name] == nil else {
        throw .usage("\(place): \(name) is set twice")
      }
      values[name, default: []].append(value)
      entries[name, default: []].append((value, place))
    }
  }

  /// A file of that name beside this one, when there is one.
  func neighbour(_ name: String) -> String? {
    guard !path.isEmpty else { return nil }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    return isFile(folder + name) ? folder + name : nil
  }

  private static let repeatable = ["service", "allow", "app"]
  static let names =
    [
      "service", "requestor", "public-key", "secret-file", "software-statement", "public-host",
      "name", "state", "socket", "language", "allow", "app", "profile", "visitor-id",
      "ca-file",
    ]
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    var text = self
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text
  }
}
