/// Why a server could not start or take a new certificate: what failed, on what, and what to do.
public enum ServerError: Error, Sendable, Hashable {
  /// Somebody answers at that address already.
  case addressInUse(ListenAddress)
  /// The address is not one of this machine's, or may not be used by this user, or its folder is missing.
  case cannotListen(ListenAddress, reason: String)
  /// The path of a Unix socket is taken by something that is not a socket.
  case notASocket(path: String)
  /// A certificate or key file that cannot be used.
  case certificate(file: String, reason: String)
  /// The system refused a thread or a descriptor.
  case resources(reason: String)
}

extension ServerError: CustomStringConvertible {
  /// A sentence and a hint.
  public var description: String {
    switch self {
    case .addressInUse(let address):
      "Something is already listening on \(address). Stop it, or choose another address."
    case .cannotListen(let address, let reason):
      "Cannot listen on \(address): \(reason). Check the address and the rights of this user."
    case .notASocket(let path):
      "\(path) exists and is not a socket. Move it away, or choose another path."
    case .certificate(let file, let reason):
      "Cannot use \(file): \(reason). It must be PEM and readable by this user, and the key must belong to the certificate."
    case .resources(let reason):
      "The system refused what a server needs: \(reason). Raise the limit of open files (ulimit -n) or of tasks."
    }
  }
}
