import TestSupport
import Testing

/// A shell in a folder, with the built programs in its path and no other environment.
struct Operator {
  let folder: String

  /// The state folder of the service that runs in this folder.
  var state: String { "\(folder)/.local/state/regent" }

  /// Runs a command line.
  func type(_ command: String, deadline: Int = 120) throws -> FinishedProgram {
    try run(
      "bash", ["-c", "cd \"$HOME\" && \(command)"],
      environment: [
        "HOME": folder, "PATH": "\(try productsFolder()):/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C.UTF-8", "REGENT_WEB": "\(packageFolder())/web",
      ], deadline: deadline)
  }

  /// Runs a command line that must succeed, and returns its output without the last line end.
  @discardableResult
  func get(_ command: String) throws -> String {
    let finished = try type(command)
    guard finished.status == 0 else {
      throw TestSupportError("\(command): \(finished.status): \(finished.errorText)")
    }
    let text = finished.outputText
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  /// Runs a command line that must fail, and returns its standard error.
  func refusal(_ command: String) throws -> String {
    let finished = try type(command)
    guard finished.status != 0 else {
      throw TestSupportError("\(command) succeeded: \(finished.outputText)")
    }
    return finished.errorText
  }

  /// Makes `copy.db`, a backup of a service that ran in this folder and has stopped.
  func makeBackup() throws {
    try withService(in: folder) { service in
      try get("regentctl requestor add acme && regentctl backup copy.db")
      service.program.signal(15)
      #expect(try service.program.wait() == 0)
    }
  }
}

/// A box whose signed calls are made by curl and openssl.
struct ShellBox {
  let shell: Operator
  let service: String
  /// The name of a file with the output of `regentctl key issue --json`.
  var key: String

  init(_ shell: Operator, _ service: RegentdProcess, key: String) throws {
    self.shell = shell
    self.service = service.url
    self.key = key
    try writeFile(
      "\(shell.folder)/call",
      #"""
      field() { grep -o "\"$1\":\"[^\"]*\"" "$KEY" | cut -d '"' -f 4; }
      M=$1 U=$2
      shift 2
      T="$M requestor_id=acme, nonce=$(cat /proc/sys/kernel/random/uuid), signature_method=HMAC-SHA256, \
      request_time=$(date +%s%3N), request_uri=${U%%\?*}"
      S=$(printf %s "$T" | openssl dgst -sha256 -hmac "$(field secret)" -binary | openssl base64 -A)
      exec curl -s -w '\n%{http_code}' -X "$M" \
        -H "Authorization: $T, public_key=$(field publicKey), signature=$S" "$SERVICE$U" "$@"

      """#.utf8)
  }

  /// Calls the service, with further options for curl.
  func call(_ method: String, _ target: String, curl: String = "") throws -> (
    status: Int, body: String
  ) {
    let text = try shell.get(
      "SERVICE=\(service) KEY=\(key) bash ./call \(method) '\(target)' \(curl)")
    guard let end = text.lastIndex(of: "\n"), let status = Int(text[text.index(after: end)...])
    else { throw TestSupportError("no answer: \(text)") }
    return (status, String(text[..<end]))
  }

  func code(device: String) throws -> String {
    let made = try call("POST", "/reggie/v1/acme/regcode.json?deviceId=\(device)")
    guard made.status == 201, let start = made.body.firstRange(of: #""code":""#) else {
      throw TestSupportError("no code: \(made)")
    }
    return String(made.body[start.upperBound...].prefix(8))
  }

  /// The service's response to the query for the box's sign-in.
  func signIn(device: String) throws -> (status: Int, body: String) {
    try call("GET", "/api/v1/tokens/authn.json?deviceId=\(device)")
  }

  /// Fetches a media token, as a player does.
  func mediaToken(device: String, resource: String) throws -> String {
    let made = try call(
      "GET", "/api/v1/tokens/media.json?deviceId=\(device)&resource=\(resource)")
    guard made.status == 200, let start = made.body.firstRange(of: #""serializedToken":""#) else {
      throw TestSupportError("no media token: \(made)")
    }
    return String(made.body[start.upperBound...].prefix { $0 != "\"" })
  }
}

/// Runs `body` with a service that has a requestor, its URL, and an enrolment code for a box.
func withInvitation(_ body: (Operator, _ service: String, _ code: String) throws -> Void) throws {
  try withTemporaryFolder { folder in
    let shell = Operator(folder: folder)
    try withService(in: folder) { service in
      try shell.get("regentctl requestor add acme")
      let code = try shell.get("regentctl requestor invite acme | awk '$1 == \"code\" { print $2 }'")
      try body(shell, service.url, code)
    }
  }
}
