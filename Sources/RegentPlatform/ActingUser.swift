public import Glibc

/// Lets a process of root continue as another user, to do the work of that user's program.
public enum ActingUser {
  /// Gives up root's rights for good and continues as another user, with that user's groups.
  ///
  /// Files that the process creates from then on belong to that user. A symbolic link that the user has planted gains
  /// nothing from root's rights. Descriptors that are open stay open. Other processes of that user cannot read this
  /// process's memory.
  ///
  /// - Parameter id: the user's id. A user without an account gets the group with the same number.
  /// - Throws: `SystemError`. The process must then exit, because it may have given up only a part of root's rights.
  public static func become(_ id: uid_t) throws(SystemError) {
    let account = try Accounts.user(id: id)
    let group = account?.group ?? id
    let subject = account?.name ?? String(id)
    // When a process of root makes these calls, they also set the real and the saved id. So the process cannot become
    // root again.
    if let account {
      try refuseNUL(in: account.name, operation: "act as user")
      try systemCall("act as user", on: subject) { unsafe initgroups(account.name, account.group) }
    } else {
      try systemCall("act as user", on: subject) { setgroups(0, nil) }
    }
    try systemCall("act as user", on: subject) { setgid(group) }
    try systemCall("act as user", on: subject) { setuid(id) }
  }
}
