/// The reason why a server could not start or load a new certificate.
public enum ServerError: Error, Sendable, Hashable {
  /// Another process accepts connections on that address.
  case addressInUse(ListenAddress)
  /// The address does not belong to this machine, this user may not use it, or the folder of the socket is missing.
  case cannotListen(ListenAddress, reason: String)
  /// The path of the Unix socket is used by a file that is no socket.
  case notASocket(path: String)
  /// The certificate or key file cannot be used.
  case certificate(file: String, reason: String)
  /// The system refused a thread or a file descriptor.
  case resources(reason: String)
}

extension ServerError: CustomStringConvertible {
  /// A sentence about the error and a hint what to do.
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
