import Glibc

/// Standard input, output and error.
public enum StandardStreams {
  /// Opens `/dev/null` for each standard descriptor that is closed.
  ///
  /// Otherwise the next file or socket would get that descriptor's number, and log lines could be written into the
  /// database. Call it before any other file is opened.
  public static func fill() {
    for number in CInt(0)...2 where attempt({ fcntl(number, F_GETFD) }).code == EBADF {
      // `open` returns the lowest free number. Here that is `number`, because the lower ones are open.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }

  /// Reads standard input to its end, up to `limit` bytes.
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
