import AccessEnabler
import CommandKit
import RegentPlatform

/// Reads a setting from the options and environment variables, and otherwise from the settings file.
struct SettingsReader {
  let call: Invocation
  let conf: AgentConf

  /// Whether a setting was given by an option, a variable or the user's own file, and not by the machine's settings
  /// file.
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

/// Whether a file exists at the path, even one that cannot be used.
func isFile(_ path: String) -> Bool {
  do throws(FileError) {
    return try PrivateFile.check(path, widest: 0o7777)
  } catch {
    // A symbolic link or a file with wrong permissions counts as existing. Reading it then reports the problem.
    switch error.kind {
    case .missing, .notADirectory, .system: return false
    default: return true
    }
  }
}

extension String {
  /// The text of an address without trailing slashes, so that a path can be appended.
  var trimmingSlashes: String {
    var text = self
    while text.hasSuffix("/") { text.removeLast() }
    return text
  }
}

/// The path of a systemd credential, if it exists.
func credential(_ name: String, _ environment: Environment) -> String? {
  guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
  let path = "\(folder)/\(name)"
  return isFile(path) ? path : nil
}

/// The state folder that systemd created.
///
/// If systemd created several, separated by colons, the first one is used.
func stateOfTheUnit(_ environment: Environment) -> String? {
  environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
}

/// The default state folder of this user.
func defaultState(_ environment: Environment) throws(CommandError) -> String {
  if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return "\(base)/regent/agent" }
  let home = try? environment["HOME"] ?? Accounts.user(id: Accounts.effectiveUser)?.home
  guard let home, home.hasPrefix("/") else {
    throw CommandError(
      "there is no folder for the tokens: this user has no home directory", hint: "add --state DIR")
  }
  return "\(home)/.local/state/regent/agent"
}
