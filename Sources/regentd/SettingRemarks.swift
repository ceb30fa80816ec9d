import CommandKit
import HTTPServer
import RegentHTTPCodec

/// A warning about a setting that is valid, but probably a mistake.
struct SettingRemark: Sendable {
  let message: String
  let hint: String
}

extension ServiceSettings {
  /// Warnings about combinations of settings and about unknown environment variables.
  func remarks(variables: some Sequence<String>) -> [SettingRemark] {
    [unencrypted].compactMap(\.self) + VariableNames.remarks(about: variables)
  }

  /// A warning about a public https address without a certificate and without a proxy.
  private var unencrypted: SettingRemark? {
    guard let publicURL, publicURL.scheme == "https", tls == nil, proxies.isEmpty,
      let open = listen.first(where: \.isOnTheNetwork)
    else { return nil }
    return SettingRemark(
      message: "--public-url has https, but the service has no certificate on \(open) and no proxy is named",
      hint: "add --tls-certificate and --tls-key, or name the proxy: --trust-proxy ADDRESS; "
        + "without TLS use --public-url http\(publicURL.description.dropFirst("https".count))")
  }
}

extension ListenAddress {
  /// Whether other machines can connect to this address.
  fileprivate var isOnTheNetwork: Bool {
    if case .network(let address, _) = self { !address.isLoopback } else { false }
  }
}

/// Finds environment variables that no program reads and that may be misspelt settings, which would be ignored
/// silently.
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
      // No setting has a similar name, so the variable belongs to another program and is not reported.
      guard let near else { return nil }
      return SettingRemark(message: "there is no setting \(name): it has no effect", hint: near)
    }
  }

  /// Whether the prefix is misspelt, as in `REGNT_LISTEN` or `regent_listen`.
  private static func isMisspelt(_ name: String) -> Bool {
    name.split(separator: "_", maxSplits: 1).first.map { nearest(to: String($0), among: ["regent"]) != nil } ?? false
  }

  /// Environment variables that are not reported as unknown: other programs or the build read them, and an operator's
  /// shell may set them.
  private static let others: Set<String> = ["REGENT_SOCKET", "REGENT_AGENT_SOCKET", "REGENT_TESTS"]
}

extension Command {
  /// The environment variables of the options.
  fileprivate var variables: [String] { inputs.compactMap(\.specification.environment) }
}
