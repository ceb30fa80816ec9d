import CommandKit
import HTTPServer
import RegentHTTPCodec

/// A setting that can be used and is most likely not what the operator meant.
struct SettingRemark: Sendable {
  let message: String
  let hint: String
}

extension ServiceSettings {
  /// What is odd about the settings together, and about the names of environment variables.
  func remarks(variables: some Sequence<String>) -> [SettingRemark] {
    [unencrypted].compactMap(\.self) + VariableNames.remarks(about: variables)
  }

  /// An https address for phones, and nothing that speaks TLS.
  private var unencrypted: SettingRemark? {
    guard let publicURL, publicURL.scheme == "https", tls == nil, proxies.isEmpty,
      let open = listen.first(where: \.isOnTheNetwork)
    else { return nil }
    return SettingRemark(
      message: "--public-url has https, but the service has no certificate on \(open) and no proxy is named",
      hint: "add --tls-certificate and --tls-key, or name the proxy: --trust-proxy ADDRESS; "
        + "without TLS use --public-url http://…")
  }
}

extension ListenAddress {
  /// Whether other machines can connect.
  fileprivate var isOnTheNetwork: Bool {
    if case .network(let address, _) = self { !address.isLoopback } else { false }
  }
}

/// Names of environment variables that nothing reads: a misspelt setting has no effect, and no other message.
enum VariableNames {
  private static let prefix = "REGENT_"

  static func remarks(about variables: some Sequence<String>) -> [SettingRemark] {
    let candidates = variables.filter { $0.hasPrefix(prefix) || isMisspelt($0) }.sorted()
    guard !candidates.isEmpty else { return [] }
    let known = Set(CheckCommand.command.variables)
    let words = known.map { String($0.dropFirst(prefix.count)) }.sorted()
    return candidates.compactMap { name in
      guard !known.contains(name), !others.contains(name) else { return nil }
      let parts = name.split(separator: "_", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { return nil }
      let near = nearest(to: parts[1], among: words).map { "did you mean \(prefix)\($0)?" }
      if name.hasPrefix(prefix) {
        return SettingRemark(
          message: "there is no setting \(name): it has no effect",
          hint: near ?? "list the settings: regentd serve --help")
      }
      // Without a setting that is like it, it is another program's.
      guard let near else { return nil }
      return SettingRemark(message: "there is no setting \(name): it has no effect", hint: near)
    }
  }

  /// `REGNT_LISTEN`, `regent_listen`.
  private static func isMisspelt(_ name: String) -> Bool {
    name.split(separator: "_", maxSplits: 1).first.map { nearest(to: String($0), among: ["regent"]) != nil } ?? false
  }

  /// Read by the other programs and by the build; they may be in the shell of an operator.
  private static let others: Set<String> = ["REGENT_SOCKET", "REGENT_AGENT_SOCKET", "REGENT_TESTS"]
}

extension Command {
  /// The environment variables of its options.
  fileprivate var variables: [String] { inputs.compactMap(\.specification.environment) }
}
