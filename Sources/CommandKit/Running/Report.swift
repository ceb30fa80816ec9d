internal import Glibc
internal import RegentJSON
internal import RegentPlatform

extension Program {
  /// Says what went wrong, on standard error, and gives the exit code.
  func report(
    _ error: CommandError, asJSON: Bool, to console: Console, of command: Command? = nil
  ) -> ExitCode {
    if asJSON, let event = command?.failureEvent {
      let shown = CommandError(
        shortened(error.message), hint: error.hint.map(shortened), code: error.code, exit: error.exit)
      console.print(json: event(shown))
      // The exit code says that it failed; whoever does not read cannot be told.
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

  /// Whether errors are to be JSON documents; asked before the command line is understood.
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

  /// Writes out what was printed; an answer that did not arrive is a failure, however well the command went.
  func finished(_ console: Console, _ arguments: [String]) -> ExitCode {
    do throws(ConsoleFailure) {
      try console.finish()
      return .done
    } catch {
      // Whoever reads through `head` has seen enough.
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

/// A sentence with the middle left out when what it quotes is a page long: what was wrong is said at its end.
private func shortened(_ sentence: String) -> String {
  guard sentence.utf8.count > 2000 else { return sentence }
  let scalars = sentence.unicodeScalars
  guard scalars.count > 1000 else { return sentence }
  return String(scalars.prefix(300)) + " […] " + String(scalars.suffix(300))
}

/// Errors of the ground floor, which every program meets.
private func explainedByKind(_ error: any Error) -> CommandError {
  switch error {
  case let error as FileError: CommandError(error.description, hint: error.hint)
  case let error as SystemError: CommandError(error.description, hint: error.hint)
  case let error as ConsoleFailure: CommandError(error.description)
  default: CommandError(String(describing: error))
  }
}
