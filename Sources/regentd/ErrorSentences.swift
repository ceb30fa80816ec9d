import CommandKit
import HTTPServer

/// The message and the hint for an error of the tools (files, sockets, TLS); nil for other errors.
func explained(_ error: any Error) -> CommandError? {
  (error as? CommandError) ?? (error as? ServerError).map(sentence) ?? storeSentence(error)
}

private func sentence(about error: ServerError) -> CommandError {
  switch error {
  case .addressInUse(let address):
    CommandError(
      "another program is already listening on \(address)",
      hint: "stop that program, or choose another address with --listen")
  case .cannotListen(let address, let reason):
    CommandError(
      "cannot listen on \(address): \(reason)",
      hint: "check that it is an address of this machine, and that this user may use the port")
  case .notASocket(let path):
    CommandError("\(path) exists and is not a socket", hint: "move it away, or choose another path")
  case .certificate(let file, let reason):
    CommandError(
      "cannot use \(file): \(reason)",
      hint: "use files in PEM format, with a key that matches the certificate")
  case .resources(let reason):
    CommandError(
      "the operating system refused a resource: \(reason)",
      hint: "raise the limit of open files (ulimit -n) or of tasks")
  }
}
