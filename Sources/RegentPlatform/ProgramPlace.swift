import Glibc

/// Where the running program is installed.
public enum ProgramPlace {
  /// The folder above the `bin` or `sbin` of the program's file; nil when the program is in no such folder.
  ///
  /// For `/usr/local/bin/regentd` it is `/usr/local`, under whatever name the program was called.
  public static var prefix: String? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { text in
        unsafe text.baseAddress.map { unsafe readlink("/proc/self/exe", $0, text.count) } ?? -1
      }
    }
    // A path that fills the whole buffer may have been truncated.
    guard count > 0, count < buffer.count else { return nil }
    let parts = String(decoding: buffer[..<count], as: UTF8.self)
      .split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 2, parts[parts.count - 2] == "bin" || parts[parts.count - 2] == "sbin"
    else {
      return nil
    }
    return parts.dropLast(2).joined(separator: "/")
  }
}
