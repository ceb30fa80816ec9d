import Glibc

/// A listening socket that the service manager opened for this program.
public struct InheritedSocket: Equatable, Sendable {
  /// The name from the unit (`FileDescriptorName=`), "unknown" when it has none.
  public let name: String
  /// The descriptor's number; make exactly one `FileDescriptor` of it.
  public let number: CInt
}

/// Sockets handed over at start (systemd's `LISTEN_FDS` protocol).
public enum SocketActivation {
  private static let first: CInt = 3

  /// The sockets meant for this process, each closed on `exec` from now on.
  ///
  /// Call it once, at start-up.
  ///
  /// - Parameters:
  ///   - environment: the process's variables.
  ///   - processID: this process; sockets meant for another one are not touched.
  /// - Returns: the sockets in the unit's order; empty when none were handed over.
  /// - Throws: `SystemError` when the manager promised a descriptor that is not open.
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

  /// What the variables announce, without touching any descriptor.
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
