import CRegentLinux
import Glibc

/// The environment variables of this process.
public enum ProcessEnvironment {
  /// The value of an environment variable; nil when it is missing or empty.
  public static func value(_ name: String) -> String? {
    guard let text = unsafe getenv(name), unsafe text.pointee != 0 else { return nil }
    return unsafe String(cString: text)
  }

  /// Sets an environment variable, unless it exists.
  ///
  /// Call it only before other threads exist, because they could be reading the environment.
  public static func setMissing(_ name: String, _ value: String) { _ = unsafe setenv(name, value, 0) }

  /// The values of all variables by name.
  ///
  /// Read them once at start-up, and pass them to other code as arguments.
  ///
  /// Entries without "=" are left out. If a name occurs twice, the first one counts, as in `getenv`.
  public static func all() -> [String: String] {
    var variables: [String: String] = [:]
    guard var entry = unsafe regent_environment() else { return variables }
    while let text = unsafe entry.pointee {
      let bytes = unsafe String(cString: text)
      if let sign = bytes.utf8.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(bytes[..<sign])
        if variables[name] == nil {
          variables[name] = String(bytes[bytes.utf8.index(after: sign)...])
        }
      }
      unsafe entry += 1
    }
    return variables
  }
}
