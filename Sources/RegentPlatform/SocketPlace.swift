public import Glibc

/// The paths of Unix sockets, and which user may have created them.
public enum SocketPlace {
  /// Whether a file of any kind exists at the path.
  ///
  /// The check costs one system call.
  public static func isThere(_ path: String) -> Bool {
    var status = stat()
    guard !path.utf8.contains(0) else { return false }
    return unsafe lstat(path, &status) == 0
  }

  /// The paths where a box's agent may listen: the user's own first, then the machine's.
  ///
  /// The user's directory is left out when it belongs to another user, as for root after `su` without `-`. A program
  /// that listens in another user's directory is not the agent of this user.
  ///
  /// - Parameter folder: the user's runtime directory (`XDG_RUNTIME_DIR`), if it is set.
  /// - Returns: the paths, whether or not sockets exist there.
  public static func ofAgent(below folder: String?) -> [String] {
    let machine = "/run/regent/agent.sock"
    guard let folder, !folder.isEmpty else { return [machine] }
    if isForeign(folder) { return [machine] }
    return ["\(folder)/regent/agent.sock", machine]
  }

  /// The only user besides root who can have put a socket at a path, according to the modes of its directories.
  ///
  /// - Parameter path: an absolute path.
  /// - Returns: the owner of the path's directory, if only root and that owner can write to it and to all directories
  ///   above; nil if another user can.
  public static func owner(ofFolderHolding path: String) -> uid_t? {
    guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"),
      let folder = realPath(slash == path.startIndex ? "/" : String(path[..<slash])),
      let holder = status(folder)
    else { return nil }
    var place = folder
    while true {
      guard let one = status(place), one.st_mode & S_IFMT == S_IFDIR, one.st_mode & 0o022 == 0,
        one.st_uid == 0 || one.st_uid == holder.st_uid
      else { return nil }
      guard place != "/", let slash = place.lastIndex(of: "/") else { return holder.st_uid }
      place = slash == place.startIndex ? "/" : String(place[..<slash])
    }
  }

  /// Whether the file at a path belongs to another user than root and this process's own.
  ///
  /// A program that listens on such a socket is that user's, also where a variable of the environment that `su` kept
  /// names its folder.
  public static func isForeign(_ path: String) -> Bool {
    guard let there = status(path) else { return false }
    return there.st_uid != geteuid() && there.st_uid != 0
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    guard !path.utf8.contains(0), unsafe lstat(path, &status) == 0 else { return nil }
    return status
  }
}
