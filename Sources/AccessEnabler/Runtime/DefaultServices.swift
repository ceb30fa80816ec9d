import RegentPlatform

/// Finds the services of a box when the app names none: from `REGENT_SERVICE`, otherwise from the box's `agent.conf`.
package enum DefaultServices {
  /// The maximum size of a settings file in bytes.
  ///
  /// A larger file is no settings file and is not read.
  private static let limit = 65_536

  /// The settings file for all users of the machine.
  package static let machinePath = "/etc/regent/agent.conf"

  /// The paths of the settings files, this user's first.
  ///
  /// - Parameters:
  ///   - machine: the settings file for all users of the machine.
  ///   - variable: returns the value of an environment variable.
  /// - Returns: the paths, whether or not the files exist.
  package static func places(
    machine: String = machinePath, _ variable: (String) -> String?
  ) -> [String] {
    let own = variable("XDG_CONFIG_HOME") ?? variable("HOME").map { "\($0)/.config" }
    return [own.map { "\($0)/regent/agent.conf" }, machine].compactMap(\.self)
  }

  /// The URLs of the services; empty if none is configured.
  ///
  /// - Parameters:
  ///   - environment: the environment variables.
  ///   - machine: the settings file for all users of the machine.
  /// - Returns: the URLs, in the order in which they are written.
  static func find(
    _ environment: [String: String] = ProcessEnvironment.all(),
    machine: String = machinePath
  ) -> [String] {
    if let given = environment["REGENT_SERVICE"], !given.isEmpty {
      return given.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
    }
    // Only the first existing settings file is used, as in the agent, even if the file cannot be trusted. Continuing
    // with the next file could silently use another service than the one in the user's own file.
    for path in places(machine: machine, { environment[$0] }) {
      do throws(FileError) {
        return services(in: try readSafely(path))
      } catch {
        // A file that other users can write is refused: they could send the viewers' passwords to any server.
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
