import HTTPServer
import HTTPTestSupport
import TestSupport

/// A third-party reverse proxy in front of a server.
///
/// Its log shows what it forwarded.
final class ReverseProxy {
  enum Kind: String, CaseIterable, CustomStringConvertible {
    case nginx
    /// nginx that forwards bodies while they arrive, and header fields that it would drop by default.
    case nginxStreaming
    case haproxy
    /// haproxy that accepts invalid requests.
    case haproxyLax

    var program: String { rawValue.hasPrefix("nginx") ? "nginx" : "haproxy" }
    var description: String { rawValue }
    static var installed: [Kind] { allCases.filter { installedProgram($0.program) != nil } }
  }

  /// One request as the proxy logged it.
  struct Forwarded: Equatable {
    let method: String
    let target: String
    /// The status of the server's response; nil if the request was not forwarded or not answered.
    let status: Int?
    /// Nil if the proxy does not log it.
    let body: [UInt8]?
  }

  let kind: Kind
  let address: ListenAddress
  private let log: String
  private let program: RunningProgram

  /// Starts a proxy that listens on a Unix socket in `folder`, so that it needs no free port.
  init(_ kind: Kind, folder: String, before server: ListenAddress) throws {
    self.kind = kind
    let socket = "\(folder)/\(kind).sock"
    log = "\(folder)/\(kind).log"
    address = .local(path: socket, mode: 0, group: nil)
    let file = "\(folder)/\(kind).conf"
    try writeFile(log, [])
    if kind.program == "nginx" {
      let text = Self.nginx(folder, socket, log, server, isStreaming: kind == .nginxStreaming)
      try writeFile(file, text.utf8)
      program = try RunningProgram(
        "nginx", ["-p", folder, "-c", file, "-e", "stderr"], standardError: "\(folder)/\(kind).err")
    } else {
      try writeFile(file, Self.haproxy(socket, server, isLax: kind == .haproxyLax).utf8)
      program = try RunningProgram(
        "haproxy", ["-db", "-f", file], standardOutput: log, standardError: "\(folder)/\(kind).err")
    }
    do {
      try eventually("\(kind) to listen") { try? readyConnection() }
    } catch {
      let said = String(decoding: try readFile("\(folder)/\(kind).err"), as: UTF8.self)
      throw TestSupportError("\(error); it said: \(said)")
    }
  }

  func logged() throws -> [Forwarded] {
    let text = String(decoding: try readFile(log), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 5 else { return nil }
      let isForwarded = parts[2] != "-" && parts[2] != "<NOSRV>"
      let body: [UInt8]? =
        switch kind {
        case .nginx: Self.unescaped(parts[4])
        case .nginxStreaming: nil
        case .haproxy, .haproxyLax: Self.unhexed(parts[4])
        }
      return Forwarded(
        method: parts[0], target: parts[1], status: isForwarded ? Int(parts[3]) : nil, body: body)
    }
  }

  private func readyConnection() throws -> Bool {
    _ = try WireConnection(address)
    return true
  }

  private static func nginx(
    _ folder: String, _ socket: String, _ log: String, _ server: ListenAddress, isStreaming: Bool
  ) -> String {
    """
    daemon off; master_process off; pid \(folder)/nginx.pid; error_log stderr crit;
    events { worker_connections 512; }
    http {
      log_format exact '$request_method\\t$request_uri\\t$upstream_addr\\t$upstream_status\\t$request_body';
      access_log \(log) exact;
      client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
      fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
      client_header_timeout 1s; client_body_timeout 1s; lingering_close off; lingering_timeout 1s; lingering_time 1s; keepalive_timeout 1s;
      client_body_buffer_size 512k;
      large_client_header_buffers 4 64k; client_max_body_size 10m;
      upstream engine { server \(server); keepalive 1; }
      server {
        listen unix:\(socket); merge_slashes off;
        \(isStreaming ? "ignore_invalid_headers off; underscores_in_headers on;" : "")
        location / {
          proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection "";
          proxy_next_upstream off; \(isStreaming ? "proxy_request_buffering off;" : "")
        }
      }
    }
    """
  }

  private static func haproxy(_ socket: String, _ server: ListenAddress, isLax: Bool) -> String {
    """
    global
      log stdout format raw local0
      tune.bufsize 262144
      tune.http.maxhdr 1000
    defaults
      mode http
      log global
      timeout connect 2s
      timeout client 1s
      timeout server 3s
      timeout http-request 1s
      option http-buffer-request
      http-reuse always
      log-format "%HM\\t%HU\\t%s\\t%ST\\t%[var(txn.body)]"
    frontend front
      bind unix@\(socket)
      \(isLax ? "option accept-invalid-http-request" : "")
      http-request set-var(txn.body) req.body,hex
      default_backend back
    backend back
      \(isLax ? "option accept-invalid-http-response" : "")
      server engine \(server)

    """
  }

  /// Decodes nginx's log format, where quotes, backslashes and unprintable bytes are written as `\xHH`.
  private static func unescaped(_ text: String) -> [UInt8] {
    if text == "-" { return [] }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x") {
        bytes += unhexed(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self))
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  private static func unhexed(_ text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(digits[$0...($0 + 1)]), radix: 16)
    }
  }
}
