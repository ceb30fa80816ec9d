internal import Glibc
internal import RegentPlatform

extension Program {
  /// Runs the program with the arguments of this process, and exits.
  ///
  /// Called by `main.swift`.
  public func main() -> Never {
    StandardStreams.fill()
    let arguments: [String]
    do throws(CommandError) {
      arguments = try CommandLine.givenArguments()
    } catch {
      exit(report(error, asJSON: false, to: .system).rawValue)
    }
    switch decide(arguments, .process, .system) {
    case .ended(let code): exit(code.rawValue)
    case .now(let run, let call): exit(perform(arguments, call) { try run(call) }.rawValue)
    case .later(let run, let call):
      // Swift's task runtime needs a few descriptors and crashes if it cannot get them.
      let files = OpenFiles.raiseLimit(to: 64)
      guard files >= 16 else {
        let hint = "raise the limit of open files: ulimit -n 1024, or LimitNOFILE= in the unit"
        exit(
          perform(arguments, call) {
            throw CommandError("this process may open only \(files) files", hint: hint)
          }.rawValue)
      }
      do throws(SystemError) {
        try TaskThreads.work {
          let code = await performLater(arguments, call) { try await run(call) }
          exit(code.rawValue)
        }
      } catch {
        let hint = "raise the limit of tasks (TasksMax= in the unit, ulimit -u) or of memory"
        exit(
          perform(arguments, call) { throw CommandError(error.description, hint: hint) }.rawValue)
      }
    }
  }

  /// Runs with the given arguments and console, for tests.
  public func run(
    _ arguments: [String], environment: Environment = Environment([:]), console: Console
  ) async -> ExitCode {
    switch decide(arguments, environment, console) {
    case .ended(let code): code
    case .now(let run, let call): perform(arguments, call) { try run(call) }
    case .later(let run, let call):
      await performLater(arguments, call) { try await run(call) }
    }
  }
}

extension Program {
  private enum Decision {
    case ended(ExitCode)
    case now(@Sendable (Invocation) throws -> Void, Invocation)
    case later(@Sendable (Invocation) async throws -> Void, Invocation)
  }

  /// Parses the command line, and handles help and errors.
  private func decide(
    _ arguments: [String], _ environment: Environment, _ console: Console
  ) -> Decision {
    let words = CommandLineWords(arguments, of: self)
    if words.wantsVersion {
      console.print("\(name) \(version)")
      return .ended(finished(console, arguments))
    }
    if words.wantsHelp {
      console.print(lines: helpLines(for: words.path, width: console.output.columns()))
      return .ended(finished(console, arguments))
    }
    do throws(CommandError) {
      if let problem = words.problem { throw problem }
      guard let command = words.command, let action = command.action else {
        // A noun without a verb prints its help.
        if !wantsJSON(arguments) {
          console.print(lines: helpLines(for: words.path, width: console.output.columns()))
          return .ended(finished(console, arguments))
        }
        throw .usage(
          "\(words.calledAs) needs a command", hint: "list the commands: \(words.calledAs) --help")
      }
      let given = try GivenValues(words, environment)
      let call = Invocation(given, console: console, environment: environment)
      return switch action {
      case .now(let run): .now(run, call)
      case .later(let run): .later(run, call)
      }
    } catch {
      return .ended(report(error, asJSON: wantsJSON(arguments), to: console, of: words.command))
    }
  }
}
