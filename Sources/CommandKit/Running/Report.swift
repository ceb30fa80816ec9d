internal import Glibc
internal import RegentJSON
internal import RegentPlatform

extension Program {
  /// Reports an error on standard error, or as JSON, and returns its exit code.
  func report(
    _ error: CommandError, asJSON: Bool, to console: Console, of command: Command? = nil
  ) -> ExitCode {
    if asJSON, let event = command?.failureEvent {
      let shown = CommandError(
        shortened(error.message), hint: error.hint.map(shortened), code: error.code, exit: error.exit)
      console.print(json: event(shown))
      // If writing fails because the reader has closed the pipe, the exit code still reports the failure.
      console.flush()
    } else if asJSON {
      var details: JSONObject = [
        "code": .string(error.code), "message": .string(shortened(error.message)),
      ]
      if let hint = error.hint { details["hint"] = .string(shortened(hint)) }
      console.drawNote(harmlessJSON(["error": .object(details)]) + "\n")
    } else {
      console.note("\(name): \(shortened(error.message))")
      if let hint = error.hint { console.note("  hint: \(shortened(hint))") }
    }
    return error.exit
  }

  /// Whether errors must be JSON documents; also for a command line that could not be parsed.
  func wantsJSON(_ arguments: [String]) -> Bool {
    offersJSON && arguments.prefix { $0 != "--" }.contains("--json")
  }

  func perform(_ arguments: [String], _ call: Invocation, _ action: () throws -> Void) -> ExitCode {
    do { try action() } catch { return failed(error, arguments, call.console) }
    return finished(call.console, arguments)
  }

  func performLater(
    _ arguments: [String], _ call: Invocation, _ action: () async throws -> Void
  ) async -> ExitCode {
    do { try await action() } catch { return failed(error, arguments, call.console) }
    return finished(call.console, arguments)
  }

  /// Writes the buffered output.
  ///
  /// If that fails, the command has failed, whatever its result was.
  func finished(_ console: Console, _ arguments: [String]) -> ExitCode {
    do throws(ConsoleFailure) {
      try console.finish()
      return .done
    } catch {
      // The reader has closed the pipe, as `head` does after enough lines. That is no error to report.
      if error.code == EPIPE { return .failed }
      return failed(error, arguments, console)
    }
  }

  private func failed(
    _ error: any Error, _ arguments: [String], _ console: Console
  ) -> ExitCode {
    if let quiet = error as? QuietExit {
      let written = finished(console, arguments)
      return written == .done ? quiet.code : written
    }
    let known = error as? CommandError ?? explain(error) ?? explainedByKind(error)
    return report(
      known, asJSON: wantsJSON(arguments), to: console, of: CommandLineWords(arguments, of: self).command)
  }
}

/// Cuts the middle out of a message that quotes a very long text; the reason is at its end.
private func shortened(_ sentence: String) -> String {
  guard sentence.utf8.count > 2000 else { return sentence }
  let scalars = sentence.unicodeScalars
  guard scalars.count > 1000 else { return sentence }
  return String(scalars.prefix(300)) + " […] " + String(scalars.suffix(300))
}

/// Messages for the errors of RegentPlatform and of the console, which every program can meet.
private func explainedByKind(_ error: any Error) -> CommandError {
  switch error {
  case let error as FileError: CommandError(error.description, hint: error.hint)
  case let error as SystemError: CommandError(error.description, hint: error.hint)
  case let error as ConsoleFailure: CommandError(error.description)
  default: CommandError(String(describing: error))
  }
}
