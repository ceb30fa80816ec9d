import RegentPlatform

/// The service of a box whose apps name none: `REGENT_SERVICE`, else what stands in the box's `agent.conf`.
package enum DefaultServices {
  /// Longer files are something else.
  private static let limit = 65_536

  /// The settings of the machine, for all of its users.
  package static let machinePath = "/etc/regent/agent.conf"

  /// Where settings are looked for: this user's first.
  ///
  /// - Parameters:
  ///   - machine: the settings of the machine.
  ///   - variable: the value of one of the process's variables.
  /// - Returns: the paths, whether there are files or not.
  package static func places(
    machine: String = machinePath, _ variable: (String) -> String?
  ) -> [String] {
    let own = variable("XDG_CONFIG_HOME") ?? variable("HOME").map { "\($0)/.config" }
    return [own.map { "\($0)/regent/agent.conf" }, machine].compactMap(\.self)
  }

  /// The services' addresses; none when nobody named any.
  ///
  /// - Parameters:
  ///   - environment: the process's variables.
  ///   - machine: the settings of the machine, for all of its users.
  /// - Returns: the addresses, in the order in which they are written.
  static func find(
    _ environment: [String: String] = ProcessEnvironment.all(),
    machine: String = machinePath
  ) -> [String] {
    if let given = environment["REGENT_SERVICE"], !given.isEmpty {
      return given.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
    }
    // As for the box's own program: the first file that is there counts alone, also when it cannot be believed. Going
    // on to the next would silently be another service than the viewer's own file names.
    for path in places(machine: machine, { environment[$0] }) {
      do throws(FileError) {
        return services(in: try readSafely(path))
      } catch {
        // What others may write could send the viewers' passwords anywhere.
        guard error.kind == .missing else { return [] }
      }
    }
    return []
  }

  private static func readSafely(_ path: String) throws(FileError) -> [UInt8] {
    try PrivateFile.checkTarget(of: path, widest: 0o644)
    return try DurableFile.read(path, limit: limit, widest: nil)
  }

  /// The values of the lines `service = ADDRESS`.
  private static func services(in bytes: [UInt8]) -> [String] {
    TextLines.of(bytes).compactMap { line in
      guard case .setting(let name, let value) = ConfLine(line), name == "service", !value.isEmpty else { return nil }
      return String(decoding: value, as: UTF8.self)
    }
  }
}
