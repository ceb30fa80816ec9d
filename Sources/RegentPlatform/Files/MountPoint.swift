/// A mounted file system, as this process sees it.
public struct MountPoint: Hashable, Sendable {
  public let path: String
  /// The file system type, for example `ext4` or `tmpfs`.
  public let type: String
  public let isReadOnly: Bool

  /// Whether the content of the file system is lost when the machine is switched off.
  public var isInMemory: Bool { type == "tmpfs" || type == "ramfs" }

  /// The file system that contains a path, which need not exist yet; nil if the kernel does not tell.
  public static func holding(_ path: String) -> MountPoint? {
    kernelTable("/proc/self/mountinfo", atMost: 1 << 20).flatMap { holding(realPath(path) ?? path, in: $0) }
  }

  /// Finds the file system that contains a path in the text of `/proc/self/mountinfo`.
  ///
  /// If several are mounted at one place, the last one counts.
  static func holding(_ path: String, in table: String) -> MountPoint? {
    var found: MountPoint?
    for line in table.split(separator: "\n") {
      let halves = line.split(separator: " - ", maxSplits: 1)
      let fields = halves[0].split(separator: " ")
      guard halves.count == 2, fields.count > 5, let type = halves[1].split(separator: " ").first else { continue }
      let place = unescaped(fields[4])
      guard place == "/" || path == place || path.hasPrefix("\(place)/") else { continue }
      guard found.map({ place.utf8.count >= $0.path.utf8.count }) ?? true else { continue }
      let options = [fields[5]] + halves[1].split(separator: " ").suffix(1)
      found = MountPoint(
        path: place, type: String(type),
        isReadOnly: options.contains { $0.split(separator: ",").contains("ro") })
    }
    return found
  }

  /// Decodes white space and backslashes, which `/proc/self/mountinfo` writes as a backslash and three octal digits.
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
