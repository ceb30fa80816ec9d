public import Glibc

/// A user of this machine.
public struct UserAccount: Equatable, Sendable {
  public let name: String
  public let id: uid_t
  /// The id of the user's primary group.
  public let group: gid_t
  /// The user's home directory.
  public let home: String
}

/// Looks up users and groups.
///
/// The answers may come from the network (LDAP), so call these functions at start-up or outside the event loop.
public enum Accounts {
  /// The effective user id of this process.
  public static var effectiveUser: uid_t { geteuid() }

  /// Looks up a user by login name.
  ///
  /// Returns nil if there is no such user.
  public static func user(named name: String) throws(SystemError) -> UserAccount? {
    try refuseNUL(in: name, operation: "look up user")
    return try unsafe lookUp("look up user", name) { buffer, size in
      var record = unsafe passwd()
      var result: UnsafeMutablePointer<passwd>?
      let code = unsafe getpwnam_r(name, &record, buffer, size, &result)
      return unsafe (code, result == nil ? nil : account(record))
    }
  }

  /// Looks up a user by id.
  ///
  /// Returns nil if there is no such user.
  public static func user(id: uid_t) throws(SystemError) -> UserAccount? {
    try unsafe lookUp("look up user", String(id)) { buffer, size in
      var record = unsafe passwd()
      var result: UnsafeMutablePointer<passwd>?
      let code = unsafe getpwuid_r(id, &record, buffer, size, &result)
      return unsafe (code, result == nil ? nil : account(record))
    }
  }

  /// The name of a user for messages: the login name, or the id when there is no such user or the look-up fails.
  ///
  /// `sign` is put before an id, such as the `#` that `sudo -u` needs.
  public static func title(of id: uid_t, numberedBy sign: String = "") -> String {
    (try? user(id: id))??.name ?? "\(sign)\(id)"
  }

  /// Looks up the id of a group by name.
  ///
  /// Returns nil if there is no such group.
  public static func group(named name: String) throws(SystemError) -> gid_t? {
    try refuseNUL(in: name, operation: "look up group")
    return try unsafe lookUp("look up group", name) { buffer, size in
      var record = unsafe Glibc.group()
      var result: UnsafeMutablePointer<Glibc.group>?
      let code = unsafe getgrnam_r(name, &record, buffer, size, &result)
      return unsafe (code, result == nil ? nil : record.gr_gid)
    }
  }

  /// Runs a reentrant look-up of a user or group, with a buffer that grows until the entry fits.
  private static func lookUp<Found>(
    _ operation: String, _ subject: String,
    _ body: (UnsafeMutablePointer<CChar>, Int) -> (CInt, Found?)
  ) throws(SystemError) -> Found? {
    var size = 1_024
    while true {
      let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
      let (code, found) = unsafe body(buffer, size)
      unsafe buffer.deallocate()
      switch code {
      case 0: return found
      case EINTR: continue
      case ERANGE where size < 1_048_576: size *= 4
      // Some name services return these error codes to say "not found".
      case ENOENT, ESRCH, EBADF, EPERM: return nil
      default: throw SystemError(operation: operation, subject: subject, code: code)
      }
    }
  }
}

private func account(_ record: passwd) -> UserAccount {
  unsafe UserAccount(
    name: record.pw_name.map { unsafe String(cString: $0) } ?? "",
    id: record.pw_uid,
    group: record.pw_gid,
    home: record.pw_dir.map { unsafe String(cString: $0) } ?? "")
}
