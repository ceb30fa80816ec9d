import RegentPlatform

/// The files that a machine needs besides a backup to run the service again.
enum MissingFromBackup {
  private static let settings = "/etc/regent/regentd.env"

  /// The files that are not in a backup: the master key, the settings, and the certificate files that the settings
  /// name.
  static var files: [String] {
    guard let bytes = try? DurableFile.read(settings, limit: 1 << 20, widest: nil) else {
      return ["the master key", "the settings", "certificates"]
    }
    let file = EnvironmentFile(bytes)
    let named = ["REGENT_TLS_CERTIFICATE", "REGENT_TLS_KEY"].compactMap { file.value(of: $0) }
    return [file.value(of: "REGENT_MASTER_KEY") ?? "/var/lib/regentd/master-key", settings] + named
  }
}
