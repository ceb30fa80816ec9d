internal import Glibc
internal import TestSupport

// `regent pair` on a terminal, with its own service: the time until the code can be read, and what waiting costs.

func boxRows() -> [Row] {
  [
    Row(name: "box: start to code on screen", unit: "ms", bar: .ours(atMost: 25)) {
      try measureStarts()
    },
    Row(name: "box: private memory while waiting", unit: "MiB", bar: .ours(atMost: 8)) {
      try withWaitingBox { Measurement(ours: try $0.mebibytes("RssAnon:"), reference: nil) }
    },
    Row(name: "box: memory while waiting", unit: "MiB", bar: .ours(atMost: 20)) {
      try withWaitingBox { Measurement(ours: try $0.mebibytes("VmRSS:"), reference: nil) }
    },
    Row(name: "box: wake-ups in 60 s of waiting", unit: "", bar: .ours(atMost: 30)) {
      try withWaitingBox { box in
        // The work of the start is over, and the first long poll has begun.
        sleep(3)
        let before = try box.wakeUps()
        let used = try box.processorMilliseconds()
        sleep(60)
        let count = try box.wakeUps() - before
        return Measurement(
          ours: Double(count), reference: nil,
          note: "of all threads together, six redraws among them; "
            + "\(text(try box.processorMilliseconds() - used)) ms of processor time")
      }
    },
    Row(name: "box: size of the program", unit: "MB", bar: .ours(atMost: 20)) {
      try withTemporaryFolder { folder in
        let stripped = "\(folder)/regent"
        let result = try run("strip", ["-o", stripped, try boxProgram()])
        guard result.status == 0 else { throw TestSupportError("strip: \(result.errorText)") }
        return Measurement(ours: Double(try readFile(stripped).count) / 1e6, reference: nil)
      }
    },
  ]
}

private let starts = 25

/// Measures the start of a box that is set up and asks for a new code, as after each boot.
private func measureStarts() throws -> Measurement {
  try withTemporaryFolder { folder in
    let server = try startPairing(folder: folder, codes: 1, pinned: false)
    var times: [Double] = []
    var first: [Double] = []
    for round in 0..<starts {
      // In every fifth round the state folder is new, so that the box also makes its installation.
      let isFirst = round.isMultiple(of: 5)
      if isFirst { removeTree("\(folder)/box") }
      let box = try WaitingBox(folder, server.port)
      if isFirst { first.append(box.milliseconds) } else { times.append(box.milliseconds) }
      try box.quit()
    }
    return Measurement(
      ours: median(times), reference: nil,
      note: "median of \(times.count), fastest \(text(times.min() ?? .nan)), "
        + "slowest \(text(times.max() ?? .nan)); the first start ever \(text(median(first))) ms")
  }
}

private func withWaitingBox(_ body: (WaitingBox) throws -> Measurement) throws -> Measurement {
  try withTemporaryFolder { folder in
    let server = try startPairing(folder: folder, codes: 1, pinned: false)
    let box = try WaitingBox(folder, server.port)
    // The first long poll has begun by then.
    sleep(2)
    return try body(box)
  }
}

private func boxProgram() throws -> String {
  let own = try ownProgram()
  let path = own.dropLast("Benchmarks".utf8.count) + "regent"
  guard unsafe access(String(path), X_OK) == 0 else {
    throw TestSupportError("\(path) is not built: make build")
  }
  return String(path)
}

/// `regent pair` on a terminal of 80 × 25.
private final class WaitingBox {
  let milliseconds: Double
  private let master: Int32
  private let program: RunningProgram

  init(_ folder: String, _ port: UInt16) throws {
    if unsafe mkdir("\(folder)/box", 0o700) == 0 {
      try writeFile("\(folder)/box/secret", BenchKeys.secret.utf8)
    }
    master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // TIOCSPTLCK and TIOCGPTN by number, because Swift cannot import these macros.
    var (lock, number): (CInt, CInt) = (0, 0)
    guard master >= 0, unsafe ioctl(master, 0x4004_5431, &lock) == 0,
      unsafe ioctl(master, 0x8004_5430, &number) == 0
    else { throw TestSupportError("no terminal: errno \(errno)") }
    var size = winsize()
    (size.ws_row, size.ws_col) = (25, 80)
    _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    let terminal = "/dev/pts/\(number)"
    let start = monotonicSeconds()
    program = try RunningProgram(
      try boxProgram(), ["pair"],
      environment: [
        "PATH": "/usr/bin:/bin", "HOME": "\(folder)/box", "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color", "REGENT_SERVICE": "http://127.0.0.1:\(port)",
        "REGENT_REQUESTOR": BenchKeys.requestor, "REGENT_PUBLIC_KEY": BenchKeys.publicKey(0),
        "REGENT_SECRET_FILE": "\(folder)/box/secret", "REGENT_STATE": "\(folder)/box/state",
        "XDG_RUNTIME_DIR": "\(folder)/box",
      ], standardInput: terminal, standardOutput: terminal,
      standardError: "\(folder)/box/err")
    var screen: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&ready, 1, 20_000) == 1 else { throw TestSupportError("no code comes") }
      let count = unsafe read(master, &buffer, buffer.count)
      guard count > 0 else {
        let said = String(decoding: (try? readFile("\(folder)/box/err")) ?? [], as: UTF8.self)
        throw TestSupportError("the box ended: \(said)")
      }
      screen += buffer.prefix(count)
      if showsCode(screen) { break }
    }
    milliseconds = (monotonicSeconds() - start) * 1000
  }

  deinit { close(master) }

  /// Presses q: the box withdraws its code and ends.
  func quit() throws {
    _ = unsafe write(master, "q", 1)
    _ = try program.wait()
  }

  func mebibytes(_ field: String) throws -> Double {
    let status = String(decoding: try readFile("/proc/\(program.pid)/status"), as: UTF8.self)
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({
        Double($0)
      })
    else { throw TestSupportError("no \(field) in status") }
    return kibibytes / 1024
  }

  /// The number of voluntary context switches of all its threads.
  func wakeUps() throws -> Int {
    try sum(over: "status") { status in
      status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
        .flatMap { Int($0.split(whereSeparator: \.isWhitespace).last ?? "") } ?? 0
    }
  }

  func processorMilliseconds() throws -> Double {
    Double(try sum(over: "schedstat") { Int($0.split(separator: " ").first ?? "") ?? 0 }) / 1e6
  }

  private func sum(over file: String, _ figure: (String) -> Int) throws -> Int {
    guard let folder = unsafe opendir("/proc/\(program.pid)/task") else {
      throw TestSupportError("the box has ended")
    }
    defer { unsafe closedir(folder) }
    var total = 0
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
        unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard !name.hasPrefix(".") else { continue }
      let bytes = try readFile("/proc/\(program.pid)/task/\(name)/\(file)")
      total += figure(String(decoding: bytes, as: UTF8.self))
    }
    return total
  }
}

/// Whether the screen contains a code such as `BCDF-GHJK`.
private func showsCode(_ screen: [UInt8]) -> Bool {
  let dash = UInt8(ascii: "-")
  return screen.indices.contains { place in
    screen[place] == dash && place >= 4 && place + 4 < screen.count
      && (screen[(place - 4)..<place] + screen[(place + 1)...(place + 4)]).allSatisfy {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
      }
  }
}
