import CRegentLinux
import Glibc

/// The environment variables of this process.
public enum ProcessEnvironment {
  /// One variable that every program of this machine knows; an empty one counts as none.
  public static func value(_ name: String) -> String? {
    guard let text = unsafe getenv(name), unsafe text.pointee != 0 else { return nil }
    return unsafe String(cString: text)
  }

  /// Gives a variable a value where it has none.
  ///
  /// Only before there are threads: others may be reading it.
  public static func setMissing(_ name: String, _ value: String) { _ = unsafe setenv(name, value, 0) }

  /// All variables, read once at the edge and passed down as a value.
  ///
  /// Entries without "=" are left out. When a name comes twice the first wins, as in `getenv`.
  ///
  /// - Returns: name to value.
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
