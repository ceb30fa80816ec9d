import CRegentLinux
import Glibc

/// The POSIX access list of a file.
public enum AccessList {
  private enum Tag: UInt16 {
    case owner = 1
    case owningGroup = 4
    case group = 8
    case mask = 16
    case others = 32
  }

  /// Lets the owner and the members of these groups, and no other user, read and write a file or connect to a socket.
  ///
  /// - Parameters:
  ///   - path: the file, which must belong to this user.
  ///   - groups: the groups besides the file's own.
  ///   - andOwningGroup: whether the members of the file's own group get the same access.
  /// - Throws: `SystemError` if the file system has no access lists.
  public static func open(_ path: String, toGroups groups: [UInt32], andOwningGroup: Bool) throws(SystemError) {
    let bytes = bytes(groups, andOwningGroup)
    try systemCall("set the access list of", on: path) {
      unsafe setxattr(path, "system.posix_acl_access", bytes, bytes.count, 0)
    }
  }

  /// The kernel's form: a version, then a tag, permissions and an id for each entry, sorted by tag and id.
  static func bytes(_ groups: [UInt32], _ andOwningGroup: Bool) -> [UInt8] {
    let readAndWrite: UInt16 = 6
    let noID = UInt32.max
    let entries: [(Tag, UInt16, UInt32)] =
      [(.owner, readAndWrite, noID), (.owningGroup, andOwningGroup ? readAndWrite : 0, noID)]
      + Set(groups).sorted().map { (.group, readAndWrite, $0) }
      + [(.mask, readAndWrite, noID), (.others, 0, noID)]
    return little(UInt32(2)) + entries.flatMap { little($0.0.rawValue) + little($0.1) + little($0.2) }
  }

  private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    (0..<MemoryLayout<Number>.size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
