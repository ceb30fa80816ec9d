import AccessEnabler
import CommandKit
import RegentPlatform

/// Options and variables first, then the settings file, in one form.
struct SettingsReader {
  let call: Invocation
  let conf: AgentConf

  /// Whether somebody said it for themselves: everything but what stands in the machine's own settings file.
  func isGiven(_ input: any InputDeclaration) -> Bool {
    call.source(of: input) != nil
      || (conf.path != DefaultServices.machinePath && conf.values[input.specification.name] != nil)
  }

  func one<Value>(
    _ input: Input<Value?>, _ kind: ValueKind<Value>
  ) throws(CommandError) -> Value? {
    if let value = call[input] { return value }
    return try fromConf(input.specification.name, kind).last
  }

  func list<Value>(
    _ input: Input<[Value]>, _ kind: ValueKind<Value>
  ) throws(CommandError) -> [Value] {
    let given = call[input]
    return given.isEmpty ? try fromConf(input.specification.name, kind) : given
  }

  private func fromConf<Value>(
    _ name: String, _ kind: ValueKind<Value>
  ) throws(CommandError) -> [Value] {
    var values: [Value] = []
    for text in conf.values[name] ?? [] {
      do throws(ValueProblem) {
        values.append(try kind.value(of: text))
      } catch {
        throw .usage("\(conf.path): \(name) \"\(text)\" \(error.problem)", hint: error.hint)
      }
    }
    return values
  }
}

/// Whether there is a file, or something that should be one.
func isFile(_ path: String) -> Bool {
  do throws(FileError) {
    return try PrivateFile.check(path, widest: 0o7777)
  } catch {
    // A symbolic link, or one that may not be read: say so when it is read.
    switch error.kind {
    case .missing, .notADirectory, .system: return false
    default: return true
    }
  }
}

extension String {
  /// An address without the slashes at its end, so that a path can follow.
  var trimmingSlashes: String {
    var text = self
    while text.hasSuffix("/") { text.removeLast() }
    return text
  }
}

/// A secret that systemd handed over.
func credential(_ name: String, _ environment: Environment) -> String? {
  guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
  let path = "\(folder)/\(name)"
  return isFile(path) ? path : nil
}

/// The state folder that systemd made; of several, with colons between them, the first one is ours.
func stateOfTheUnit(_ environment: Environment) -> String? {
  environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
}

/// The state folder of a user who chose none.
func defaultState(_ environment: Environment) throws(CommandError) -> String {
  if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return "\(base)/regent/agent" }
  let home = try? environment["HOME"] ?? Accounts.user(id: Accounts.effectiveUser)?.home
  guard let home, home.hasPrefix("/") else {
    throw CommandError(
      "there is no folder for the tokens: this user has no home directory", hint: "add --state DIR")
  }
  return "\(home)/.local/state/regent/agent"
}
