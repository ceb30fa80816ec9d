import CommandKit
import RegentPlatform

/// The person behind root, for the audit log.
enum Invoker {
  /// The user who runs this command with sudo, or who logged in and became root; nil for other users than root.
  static func name(_ environment: Environment) -> String? {
    guard Accounts.effectiveUser == 0 else { return nil }
    guard let user = environment["SUDO_UID"].flatMap(UInt32.init) ?? loginUser, user != 0 else { return nil }
    let name = Accounts.title(of: user, numberedBy: "uid ")
    // The name is sent in a header field, so it must be printable ASCII.
    return name.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? name : "uid \(user)"
  }

  /// The user who logged in, as the kernel remembers it; nil in a service, which has no login.
  private static var loginUser: UInt32? {
    guard let bytes = try? DurableFile.read("/proc/self/loginuid", limit: 32, widest: nil),
      let user = UInt32(String(decoding: bytes, as: UTF8.self).filter(\.isNumber))
    else { return nil }
    return user == .max ? nil : user
  }
}
