import FoundationEssentials
import Glibc
import RegentHTTPClient
import RegentPlatform
import TestSupport

/// The folder to delete when the process ends, because a global value is never released.
private let worldFolder = Locked<String?>(nil)

/// Certificates for all tests of this process, made once.
final class TLSWorld: Sendable {
  let folder: String
  var authority: String { "\(folder)/ca.pem" }

  /// One week.
  ///
  /// The certificates are valid from the machine's current time, because openssl offers no other start.
  static let lifetime: Int64 = 7 * 86_400_000

  init() throws {
    folder = try makeTemporaryFolder()
    let made = folder
    worldFolder.withLock { $0 = made }
    atexit { if let folder = worldFolder.withLock({ $0 }) { removeTree(folder) } }
    try openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
      "3650",
      "-subj", "/CN=Test authority", "-keyout", "\(folder)/ca.key", "-out", authority)
    try certificate("good", "DNS:localhost,IP:127.0.0.1,IP:::1", days: 7)
    try certificate("long", "DNS:localhost,IP:127.0.0.1", days: 3_000)
    try certificate("other", "DNS:other.example", days: 7)
    try openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
      "7",
      "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
      "-keyout", "\(folder)/self.key", "-out", "\(folder)/self.pem")
  }

  private func certificate(_ name: String, _ names: String, days: Int) throws {
    try openssl(
      "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
      "/CN=\(name)",
      "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).csr")
    try writeFile("\(folder)/\(name).ext", "subjectAltName=\(names)\n".utf8)
    try openssl(
      "x509", "-req", "-in", "\(folder)/\(name).csr", "-CA", authority, "-CAkey",
      "\(folder)/ca.key", "-CAcreateserial", "-days", "\(days)", "-extfile",
      "\(folder)/\(name).ext", "-out", "\(folder)/\(name).pem")
  }

  private func openssl(_ arguments: String...) throws {
    let finished = try run("openssl", arguments)
    guard finished.status == 0 else { throw TestSupportError(finished.errorText) }
  }
}

/// A small HTTPS server in Python, which ends when this value is released.
final class TLSServer {
  let url: String
  let port: Int
  private let program: RunningProgram

  /// Starts the server.
  ///
  /// `date` is the value of its Date header; nil for the real time.
  init(
    _ world: TLSWorld, certificate: String = "good", date: String? = nil,
    address: String = "127.0.0.1"
  ) throws {
    let output = "\(world.folder)/\(UUID().uuidString).out"
    let files = ["\(world.folder)/\(certificate).pem", "\(world.folder)/\(certificate).key"]
    program = try RunningProgram(
      "python3", ["-c", TLSServer.script] + files + [date ?? "", address], standardOutput: output,
      standardError: "\(output).err")
    port = try eventually("the port") {
      let text = String(decoding: (try? readFile(output)) ?? [], as: UTF8.self)
      return text.hasSuffix("\n") ? Int(text.dropLast()) : nil
    }
    url = "https://localhost:\(port)"
  }

  /// The script replies by path; each response has the number of connections so far.
  private static let script = """
    import sys, ssl, socket, time, threading, http.server
    certificate, key, date, address = sys.argv[1:5]
    connections = 0
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def setup(self):
            global connections
            connections += 1
            super().setup()
        def date_time_string(self, timestamp=None):
            return date or super().date_time_string(timestamp)
        def log_message(self, *arguments): pass
        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path
            if path == "/slow": time.sleep(60)
            if path == "/none":
                self.close_connection = True
                return
            if path.startswith("/redirect?"):
                self.send_response(302)
                self.send_header("Location", path[10:])
                self.send_header("Content-Length", "0")
                return self.end_headers()
            if path == "/cut":
                self.send_response(200)
                self.send_header("Content-Length", "100")
                self.end_headers()
                self.wfile.write(b"half")
                self.close_connection = True
                return
            if path == "/both":
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.send_header("Content-Length", "3")
                self.end_headers()
                return self.wfile.write(b"ab")
            if path == "/endless":
                self.send_response(200)
                self.end_headers()
                while True: self.wfile.write(b"x" * 10000)
            if path == "/chunks":
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for piece in (b"one ", b"two"):
                    self.wfile.write(b"%x\\r\\n%s\\r\\n" % (len(piece), piece))
                return self.wfile.write(b"0\\r\\nX-Trailer: t\\r\\n\\r\\n")
            text = (self.requestline + "\\n" + str(self.headers)).encode() + body
            self.send_response(200)
            self.send_header("X-Connections", str(connections))
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command != "HEAD": self.wfile.write(text)
        do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = answer
    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 128
        def finish_request(self, request, address):
            request.settimeout(300)
            with context.wrap_socket(request, server_side=True) as secure:
                super().finish_request(secure, address)
        def handle_error(self, request, address): pass
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if ":" in address: Server.address_family = socket.AF_INET6
    server = Server((address, 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
    """
}
