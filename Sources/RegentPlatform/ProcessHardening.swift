import CRegentLinux
import Glibc

/// Small switches that make a process a harder target.
public enum ProcessHardening {
  /// Keeps secrets in memory away from other processes of the same user and from core files.
  ///
  /// The process can no longer be traced or dumped, its core size is 0, and files it creates are private by default.
  ///
  /// - Throws: `SystemError`.
  public static func apply() throws(SystemError) {
    try forbidDumps()
    umask(0o077)
  }

  /// The same without the mask for new files, for a program that also writes files for other users and starts programs.
  ///
  /// Programs that this process starts inherit the core size of 0, as their environment may hold a token.
  ///
  /// - Throws: `SystemError`.
  public static func forbidDumps() throws(SystemError) {
    try systemCall("forbid dumps of", on: "this process") { regent_prctl(PR_SET_DUMPABLE, 0) }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    try systemCall("limit core files of", on: "this process") {
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
  }

  /// Whether another process of the same user could read this one's memory.
  public static var allowsDumps: Bool {
    regent_prctl(PR_GET_DUMPABLE, 0) != 0
  }

  /// Makes it impossible to gain rights through set-user-id programs, for this process and all it starts.
  ///
  /// - Throws: `SystemError`.
  public static func refuseNewPrivileges() throws(SystemError) {
    try systemCall("refuse new privileges for", on: "this process") {
      regent_prctl(PR_SET_NO_NEW_PRIVS, 1)
    }
  }
}
