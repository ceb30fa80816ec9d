import Glibc

/// A listening socket that the service manager has opened for this program.
public struct InheritedSocket: Equatable, Sendable {
  /// The name from the socket unit (`FileDescriptorName=`), or "unknown".
  public let name: String
  /// The descriptor's number.
  ///
  /// Create exactly one `FileDescriptor` from it.
  public let number: CInt
}

/// Takes over sockets at start-up (systemd's `LISTEN_FDS` protocol).
public enum SocketActivation {
  private static let first: CInt = 3

  /// The sockets for this process, now with close-on-exec.
  ///
  /// Call it once, at start-up.
  ///
  /// - Parameters:
  ///   - environment: the process's variables.
  ///   - processID: this process; sockets meant for another process are not used.
  /// - Returns: the sockets in the order of the unit; empty when there are none.
  /// - Throws: `SystemError` when an announced descriptor is not open.
  public static func inheritedSockets(
    environment: [String: String], processID: Int32
  ) throws(SystemError) -> [InheritedSocket] {
    let sockets = announced(environment: environment, processID: processID)
    for socket in sockets {
      try systemCall("take over descriptor", on: "\(socket.number) (\(socket.name))") {
        fcntl(socket.number, F_SETFD, FD_CLOEXEC)
      }
    }
    return sockets
  }

  /// The sockets that the environment variables announce.
  ///
  /// Reads only the environment, and does not touch the descriptors.
  static func announced(
    environment: [String: String], processID: Int32
  ) -> [InheritedSocket] {
    guard environment["LISTEN_PID"] == String(processID),
      let count = environment["LISTEN_FDS"].flatMap({ CInt($0) }), count > 0, count <= 1_024
    else { return [] }
    let names = (environment["LISTEN_FDNAMES"] ?? "")
      .split(separator: ":", omittingEmptySubsequences: false)
    return (0..<count).map { index in
      let name = Int(index) < names.count ? String(names[Int(index)]) : ""
      return InheritedSocket(name: name.isEmpty ? "unknown" : name, number: first + index)
    }
  }
}
