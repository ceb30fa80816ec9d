internal import Glibc
internal import TestSupport

/// A measured server, pinned to processor 0; the load generator has processor 1.
final class PinnedServer {
  let name: String
  let port: UInt16
  private let program: RunningProgram
  private let folder: String

  /// Starts a program that listens on `port` and waits until it accepts connections.
  init(
    _ name: String, port: UInt16, folder: String, _ command: [String], patience: Int = 20,
    pinned: Bool = true
  ) throws {
    self.name = name
    self.port = port
    self.folder = folder
    program = try RunningProgram(
      "taskset", ["-c", pinned ? "0" : "0,1"] + command, standardError: "\(folder)/\(name).err")
    do {
      try eventually("\(name) listens on \(port)", within: patience) {
        canConnect(port) ? true : nil
      }
    } catch {
      let said = String(decoding: (try? readFile("\(folder)/\(name).err")) ?? [], as: UTF8.self)
      throw TestSupportError("\(error); it said: \(said)")
    }
  }

  var pid: Int32 { program.pid }

  /// Sends SIGTERM, as a service manager does.
  func askToEnd() { program.signal(SIGTERM) }

  /// Its exit status, or nil while it runs.
  var status: Int32? { program.poll() }

  /// The processor time that it has used so far, user and system, in seconds.
  func processorSeconds() throws -> Double { try Benchmarks.processorSeconds(of: program.pid) }

  /// Its resident memory in KiB.
  func residentKiB() throws -> Double { try status("VmRSS:") }

  /// Its private memory in KiB, without program text and pages of the database.
  func anonymousKiB() throws -> Double { try status("RssAnon:") }

  /// The peak of its resident memory in KiB.
  func peakKiB() throws -> Double { try status("VmHWM:") }

  private func status(_ field: String) throws -> Double {
    let status = String(decoding: try readFile("/proc/\(program.pid)/status"), as: UTF8.self)
    for line in status.split(separator: "\n") where line.hasPrefix(field) {
      let words = line.split { $0 == " " || $0 == "\t" }
      if words.count > 1, let value = Double(words[1]) { return value }
    }
    throw TestSupportError("no \(field) in status")
  }
}

/// The processor time that a process has used so far, user and system, in seconds.
func processorSeconds(of pid: Int32) throws -> Double {
  let stat = String(decoding: try readFile("/proc/\(pid)/stat"), as: UTF8.self)
  // The name in parentheses may contain spaces; the fields are counted after it: 14 is utime, 15 stime.
  guard let end = stat.lastIndex(of: ")") else { throw TestSupportError("unreadable stat") }
  let fields = stat[stat.index(after: end)...].split(separator: " ")
  guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
    throw TestSupportError("unreadable stat: \(stat)")
  }
  return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
}

/// Starts nginx as the reference: one process, no log, the same body for every path.
func startNginx(folder: String, body: String) throws -> PinnedServer {
  let port = try freePort()
  let configuration = """
    daemon off; master_process off; worker_processes 1; pid \(folder)/nginx.pid;
    error_log stderr crit; worker_rlimit_nofile 30000;
    events { worker_connections 25000; }
    http {
      access_log off; server_tokens off; keepalive_requests 1000000000; keepalive_timeout 600s;
      client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
      fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi;
      scgi_temp_path \(folder)/scgi; default_type text/plain;
      server { listen 127.0.0.1:\(port) backlog=4096; location / { return 200 "\(body)"; } }
    }
    """
  try writeFile("\(folder)/nginx.conf", configuration.utf8)
  guard let nginx = installedProgram("nginx") else {
    throw TestSupportError("nginx is not installed: run deploy/bootstrap --bench")
  }
  return try PinnedServer(
    "nginx", port: port, folder: folder,
    [nginx, "-p", folder, "-c", "\(folder)/nginx.conf", "-e", "stderr"])
}

/// Starts our engine in its own process, with the same body for every path.
func startStaticServer(folder: String, body: String) throws -> PinnedServer {
  let port = try freePort()
  return try PinnedServer(
    "ours", port: port, folder: folder, [try ownProgram(), "serve-static", "\(port)", body])
}

func ownProgram() throws -> String {
  var buffer = [CChar](repeating: 0, count: 4096)
  let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
  guard count > 0 else { throw TestSupportError("no /proc/self/exe") }
  return String(decoding: buffer[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
}

private func canConnect(_ port: UInt16) -> Bool {
  guard let descriptor = connectLoopback(port) else { return false }
  close(descriptor)
  return true
}

/// A connected socket to a port of the loopback address, or nil.
func connectLoopback(_ port: UInt16) -> Int32? {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { return nil }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  address.sin_port = port.bigEndian
  let connected = unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
      unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  guard connected == 0 else {
    close(descriptor)
    return nil
  }
  return descriptor
}
