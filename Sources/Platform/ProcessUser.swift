import Glibc

/// Who this process acts as.
public enum ProcessUser {
  /// Gives up being root for good: the process is that user from now on, with the groups of that user.
  ///
  /// What is open stays open. Other processes of that user cannot read this one's memory.
  ///
  /// - Throws: `SystemError` when this process is not root, or the kernel refuses.
  public static func become(_ user: UserAccount) throws(SystemError) {
    try refuseNUL(in: user.name, operation: "become user")
    // Done by root, each of these sets the real and the saved one, too: there is no way back.
    try systemCall("take the groups of user", on: user.name) {
      unsafe initgroups(user.name, user.group)
    }
    try systemCall("take the group of user", on: user.name) {
      setgid(user.group)
    }
    try systemCall("become user", on: user.name) { setuid(user.id) }
  }
}
