import AccessEnabler
import CommandKit
import RegentPlatform

/// The settings file: lines `name = value` with the names of the options, and comments that start with `#`.
struct AgentConf: Sendable {
  private(set) var values: [String: [String]] = [:]
  /// The values of the settings with their file and line, for error messages.
  private(set) var entries: [String: [(text: String, place: String)]] = [:]
  let path: String

  /// The largest size of a settings file, in bytes.
  static let limit = 65_536

  init() { path = "" }

  /// Reads a settings file, which other users must not be able to write.
  init(path: String) throws(CommandError) {
    let bytes: [UInt8]
    do throws(FileError) {
      try PrivateFile.checkTarget(of: path, widest: 0o644)
      bytes = try DurableFile.read(path, limit: Self.limit, widest: nil)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    try self.init(bytes, path: path)
  }

  init(text: String, path: String) throws(CommandError) { try self.init(Array(text.utf8), path: path) }

  private init(_ bytes: [UInt8], path: String) throws(CommandError) {
    self.path = path
    for (index, line) in TextLines.of(bytes).enumerated() {
      let place = "\(path) line \(index + 1)"
      let name: String
      let written: ArraySlice<UInt8>
      switch ConfLine(line) {
      case .empty: continue
      case .other: throw .usage("\(place) is not a setting", hint: "write it as: service = https://HOST")
      case .setting(let found, let text):
        name = found
        written = text
      }
      guard let value = String(validating: written, as: UTF8.self) else {
        throw .usage("\(place) is not UTF-8", hint: "save it as UTF-8")
      }
      guard Self.names.contains(name) else {
        throw .usage(
          "\(place): there is no setting \"\(name)\"",
          hint: nearest(to: name, among: Self.names).map { "did you mean \($0)?" }
            ?? "the settings are \(Self.names.joined(separator: ", "))")
      }
      guard !value.isEmpty else {
        throw .usage("\(place): \(name) has no value", hint: "write \(name) = VALUE, or remove the line")
      }
      guard Self.repeatable.contains(name) || values[name] == nil else {
        throw .usage("\(place): \(name) is set twice", hint: "remove one of the two lines")
      }
      values[name, default: []].append(value)
      entries[name, default: []].append((value, place))
    }
  }

  /// The path of a file in the folder of the settings file, if it exists.
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
      "ca-file", "proxy", "find-again",
    ]
}
