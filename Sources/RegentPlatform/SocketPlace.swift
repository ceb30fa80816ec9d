public import Glibc

/// Where a Unix socket lies, and who may have put it there.
public enum SocketPlace {
  /// Whether there is anything at that path; costs one system call.
  public static func isThere(_ path: String) -> Bool {
    var status = stat()
    guard !path.utf8.contains(0) else { return false }
    return unsafe lstat(path, &status) == 0
  }

  /// Where a box's agent may listen, best first: for this user alone, then for the machine.
  ///
  /// A user's folder that is somebody else's is left out, as root's is after `su` without `-`: who listens there is not
  /// the agent of whoever asks, whatever it says.
  ///
  /// - Parameter folder: the user's folder for what runs (`XDG_RUNTIME_DIR`), if there is one.
  /// - Returns: the paths, whatever is there.
  public static func ofAgent(below folder: String?) -> [String] {
    let machine = "/run/regent/agent.sock"
    guard let folder, !folder.isEmpty else { return [machine] }
    if let there = status(folder), there.st_uid != geteuid(), there.st_uid != 0 { return [machine] }
    return ["\(folder)/regent/agent.sock", machine]
  }

  /// The one user besides root who can put a socket at that path, as far as the folders say so.
  ///
  /// - Parameter path: an absolute path.
  /// - Returns: the owner of the folder it is in, when that folder and all above can be written by root and that owner
  ///   alone; nil when somebody else could have put it there.
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

  private static func status(_ path: String) -> stat? {
    var status = stat()
    guard !path.utf8.contains(0), unsafe lstat(path, &status) == 0 else { return nil }
    return status
  }
}
