import CommandKit
import HTTPServer

/// Messages and hints for the errors that the tools throw.
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
      hint: "it must be in PEM format, and the key must match the certificate")
  case .resources(let reason):
    CommandError(
      "the operating system refused a resource: \(reason)",
      hint: "raise the limit of open files (ulimit -n) or of tasks")
  }
}
