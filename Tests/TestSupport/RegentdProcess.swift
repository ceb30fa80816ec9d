internal import Glibc

/// A `regentd` that runs beside the test, from its line of readiness on; it is killed when the value goes away.
///
/// Every Swift test that needs the program to serve starts it here; benchmarks pin theirs to a core. What it prints is
/// in `out` and `log` of its folder.
public struct RegentdProcess {
  public let program: RunningProgram
  public let folder: String
  /// The first address it listens on, as it says it.
  public let url: String

  private static let opening = "regentd: listening on "

  /// Starts the program and blocks until it listens.
  ///
  /// The program gets exactly `environment` when it is given, else ours.
  public init(
    _ binary: String, in folder: String, listen: String = "127.0.0.1:0", _ options: [String] = [],
    environment: [String: String]? = nil, within seconds: Int = 60
  ) throws {
    let start = try Start(binary, folder, listen, options, environment)
    do {
      url = try eventually("regentd listens", within: seconds) { () throws -> String? in try start.address() }
    } catch {
      throw TestSupportError("\(error); its log: \(start.lastWords)")
    }
    (program, self.folder) = (start.program, folder)
  }

  /// The same without blocking the thread: for callers on Swift's pool.
  public static func start(
    _ binary: String, in folder: String, listen: String = "127.0.0.1:0", _ options: [String] = [],
    environment: [String: String]? = nil, within seconds: Int = 60
  ) async throws -> RegentdProcess {
    let start = try Start(binary, folder, listen, options, environment)
    do {
      let url = try await eventually("regentd listens", within: seconds) { () async throws -> String? in
        try start.address()
      }
      return RegentdProcess(program: start.program, folder: folder, url: url)
    } catch {
      throw TestSupportError("\(error); its log: \(start.lastWords)")
    }
  }

  private init(program: RunningProgram, folder: String, url: String) {
    (self.program, self.folder, self.url) = (program, folder, url)
  }

  /// What it wrote to standard output: a line for each address.
  public var output: String {
    get throws { String(decoding: try readFile("\(folder)/out"), as: UTF8.self) }
  }

  /// What it wrote to standard error.
  public var log: String { get throws { String(decoding: try readFile("\(folder)/log"), as: UTF8.self) } }

  /// All addresses it listens on.
  public var urls: [String] {
    get throws { try output.split(separator: "\n").map { String($0.dropFirst(Self.opening.count)) } }
  }

  /// Ends it as a power cut of the process does.
  public func kill() throws {
    program.signal(SIGKILL)
    _ = try program.wait()
  }

  /// Ends it in peace: everything is in the database then, and nothing in its log.
  ///
  /// - Throws: with the end of what it said, when it does not end or not well.
  public func stop() throws {
    program.signal(SIGTERM)
    let status = try program.wait()
    guard status == 0 else {
      throw TestSupportError("regentd ended with \(status): \(try log.suffix(2000))")
    }
  }

  /// A program that was started and has not said yet that it listens.
  private struct Start {
    let program: RunningProgram
    let folder: String

    init(
      _ binary: String, _ folder: String, _ listen: String, _ options: [String],
      _ environment: [String: String]?
    ) throws {
      // The line of an earlier service in this folder would be taken for this one's.
      _ = unsafe unlink("\(folder)/out")
      self.folder = folder
      program = try RunningProgram(
        binary, ["serve", "--listen", listen] + options, environment: environment,
        standardOutput: "\(folder)/out", standardError: "\(folder)/log")
    }

    /// Where it listens, or nil when it is not there yet.
    func address() throws -> String? {
      if let status = program.poll() {
        throw TestSupportError("regentd ended with \(status)")
      }
      let text = String(decoding: (try? readFile("\(folder)/out")) ?? [], as: UTF8.self)
      guard text.hasSuffix("\n") else { return nil }
      guard text.hasPrefix(RegentdProcess.opening) else { throw TestSupportError("regentd said: \(text)") }
      return String(text.prefix { $0 != "\n" }.dropFirst(RegentdProcess.opening.count))
    }

    var lastWords: String {
      String(decoding: ((try? readFile("\(folder)/log")) ?? []).suffix(2000), as: UTF8.self)
    }
  }
}
