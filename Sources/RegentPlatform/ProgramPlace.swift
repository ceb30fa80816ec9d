import Glibc

/// Where the running program's own file lies.
public enum ProgramPlace {
  /// The folder above the `bin` or `sbin` that the program was installed into; nil for one that was not installed.
  ///
  /// `/usr/local/bin/regentd` has `/usr/local`, whatever its name was when it was called.
  public static var prefix: String? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { text in
        unsafe text.baseAddress.map { unsafe readlink("/proc/self/exe", $0, text.count) } ?? -1
      }
    }
    // A path that fills the buffer was cut.
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
