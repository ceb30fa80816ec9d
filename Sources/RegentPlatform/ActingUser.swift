public import Glibc

/// Root doing the work of another user's program.
public enum ActingUser {
  /// Gives root's rights up for good and goes on as another user, with that user's groups.
  ///
  /// Whatever is made from here on belongs to that user, and no link that it planted leads root anywhere. What was
  /// opened before stays open. Other processes of that user cannot read this one's memory.
  ///
  /// - Parameter id: the user's number; one that has no account gets the group of the same number.
  /// - Throws: `SystemError`; nothing is to be done after one, because only a part may have been given up.
  public static func become(_ id: uid_t) throws(SystemError) {
    let account = try Accounts.user(id: id)
    let group = account?.group ?? id
    let subject = account?.name ?? String(id)
    // Done by root, each of these sets the real and the saved one, too: there is no way back.
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
