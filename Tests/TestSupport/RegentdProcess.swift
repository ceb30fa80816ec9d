internal import Glibc

/// A `regentd` process beside the test.
///
/// It is listening once the initializer returns, and is killed on deinit.
///
/// Every Swift test that needs a serving `regentd` starts it here; benchmarks pin theirs to a core. Its standard output
/// and standard error go to the files `out` and `log` in its folder.
public struct RegentdProcess {
  public let program: RunningProgram
  public let folder: String
  /// The first address it listens on, as it printed it.
  public let url: String

  private static let opening = "regentd: listening on "

  /// Starts the program and blocks until it listens.
  ///
  /// The program gets exactly `environment` if given, otherwise the test's environment.
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

  /// Starts the program without blocking the thread, for callers on Swift's concurrency pool.
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

  /// Its standard output: one line for each address.
  public var output: String {
    get throws { String(decoding: try readFile("\(folder)/out"), as: UTF8.self) }
  }

  public var log: String { get throws { String(decoding: try readFile("\(folder)/log"), as: UTF8.self) } }

  /// All addresses that it listens on.
  public var urls: [String] {
    get throws { try output.split(separator: "\n").map { String($0.dropFirst(Self.opening.count)) } }
  }

  /// Kills the process with SIGKILL, as in a crash.
  public func kill() throws {
    program.signal(SIGKILL)
    _ = try program.wait()
  }

  /// Ends the process with SIGTERM.
  ///
  /// Afterwards the database holds everything and its log file is empty.
  ///
  /// - Throws: when it does not end, or its status is not 0; the error contains the end of its log.
  public func stop() throws {
    program.signal(SIGTERM)
    let status = try program.wait()
    guard status == 0 else {
      throw TestSupportError("regentd ended with \(status): \(try log.suffix(2000))")
    }
  }

  /// A program that was started and does not listen yet.
  private struct Start {
    let program: RunningProgram
    let folder: String

    init(
      _ binary: String, _ folder: String, _ listen: String, _ options: [String],
      _ environment: [String: String]?
    ) throws {
      // Otherwise the line that an earlier service wrote in this folder would be read as this one's.
      _ = unsafe unlink("\(folder)/out")
      self.folder = folder
      program = try RunningProgram(
        binary, ["serve", "--listen", listen] + options, environment: environment,
        standardOutput: "\(folder)/out", standardError: "\(folder)/log")
    }

    /// The address it listens on, or nil while it does not listen.
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
