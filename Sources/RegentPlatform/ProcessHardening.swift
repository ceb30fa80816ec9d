import CRegentLinux
import Glibc

/// Settings that protect this process against other processes.
public enum ProcessHardening {
  /// Protects secrets in memory from other processes of the same user and from core dumps.
  ///
  /// The process cannot be traced or dumped any more, and files that it creates are private by default (umask 077).
  public static func apply() throws(SystemError) {
    try forbidDumps()
    umask(0o077)
  }

  /// Like `apply()`, but does not change the umask.
  ///
  /// For a program that also writes files for other users and starts programs.
  ///
  /// Programs that this process starts inherit the core size of 0, because their environment may contain a token.
  public static func forbidDumps() throws(SystemError) {
    try systemCall("forbid dumps of", on: "this process") { regent_prctl(PR_SET_DUMPABLE, 0) }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    try systemCall("limit core files of", on: "this process") {
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
  }

  /// Whether other processes of the same user can read this process's memory.
  public static var allowsDumps: Bool {
    regent_prctl(PR_GET_DUMPABLE, 0) != 0
  }

  /// Prevents this process and its children from gaining rights through set-user-id programs.
  public static func refuseNewPrivileges() throws(SystemError) {
    try systemCall("refuse new privileges for", on: "this process") {
      regent_prctl(PR_SET_NO_NEW_PRIVS, 1)
    }
  }
}
