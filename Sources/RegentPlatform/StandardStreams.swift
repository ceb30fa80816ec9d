import Glibc

/// Standard input, output and error.
public enum StandardStreams {
  /// Opens `/dev/null` for each of the three that the starter left closed.
  ///
  /// Otherwise the next file or socket gets its number, and what is meant for the log is written into the database.
  /// Call it before anything else is opened.
  public static func fill() {
    for number in CInt(0)...2 where attempt({ fcntl(number, F_GETFD) }).code == EBADF {
      // The lowest free number is the one that is missing: those below were filled before.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }

  /// What standard input has, to its end, and no more than so many bytes of it.
  public static func input(limit: Int) throws(SystemError) -> [UInt8] {
    let file = FileDescriptor(owning: try systemCall("read", on: "standard input") { dup(0) })
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let part = try file.read(atMost: limit - bytes.count, from: "standard input")
      if part.isEmpty { break }
      bytes += part
    }
    return bytes
  }
}
