import AccessEnabler
import CommandKit
import RegentHTTPClient
import RegentHTTPCodec
import RegentPairingWire
import RegentPlatform

/// The settings file and the secret file of a box.
///
/// They are checked and locked before the enrolment code is redeemed, because the code works only once.
struct BoxFiles: ~Copyable {
  private let place: String
  private let secret: String
  private let authorities: String?
  private let proxy: ProxyChoice?
  private let name: String?
  private let lock: SettingsLock
  /// The folder that this set-up created, if any.
  private let newFolder: String?

  /// Checks that both files can be written and that no other user can replace them, and locks them against a second
  /// set-up.
  init(
    _ place: String, authorities: String?, proxy: ProxyChoice? = nil, name: String? = nil
  ) throws(CommandError) {
    let beside = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { place[...$0] } ?? "./"
    guard authorities?.utf8.allSatisfy({ $0 >= 0x20 }) ?? true else {
      throw .usage("--ca-file: the path contains a line break", hint: "rename the file")
    }
    guard name?.utf8.allSatisfy({ $0 >= 0x20 }) ?? true else {
      throw .usage("--name: the name contains a line break", hint: "use one line")
    }
    let folder = beside == "/" ? "/" : String(beside.dropLast())
    let isNew: Bool
    let lock: SettingsLock
    do throws(FileError) {
      isNew = try PrivateDirectory.owner(of: folder) == nil
      lock = try Self.ground(place, folder: folder, isNew: isNew, secret: "\(beside)secret")
    } catch {
      throw CommandError(settingUp: "this box", error)
    }
    self.place = place
    secret = "\(beside)secret"
    self.authorities = authorities
    self.proxy = proxy
    self.name = name
    self.lock = lock
    newFolder = isNew ? folder : nil
  }

  private static func ground(
    _ place: String, folder: String, isNew: Bool, secret: String
  ) throws(FileError) -> SettingsLock {
    // An existing folder keeps its mode. A new folder is accessible to its owner only.
    if isNew { try PrivateDirectory.ensure(folder) }
    try PrivateDirectory.requireOwn(folder)
    try PrivateFile.check(secret, widest: 0o7777)
    _ = try settings(place)
    let lock = try SettingsLock(place)
    // Removes temporary files of an interrupted set-up.
    for file in [place, secret] { try DurableFile.clearDrafts(of: file) }
    return lock
  }

  /// Writes the secret, then the settings.
  ///
  /// If the settings were written first, a crash could leave settings that name a key pair without a secret, and the
  /// box would not start.
  ///
  /// - Returns: the changed lines of the settings, as in a diff.
  func write(_ grant: EnrolmentGrant, _ service: AbsoluteURL) throws(CommandError) -> [String] {
    do throws(FileError) {
      // Read the settings again, because an editor may have changed the file meanwhile.
      let settings = try Self.settings(place)
      let conf = changed(settings ?? [], grant, service)
      try DurableFile.write(Array("\(grant.secret)\n".utf8), to: secret)
      if settings == nil {
        try DurableFile.write(conf.bytes, to: place, mode: place == DefaultServices.machinePath ? 0o644 : 0o600)
      } else if !conf.difference.isEmpty {
        try DurableFile.replace(conf.bytes, of: place, whichSays: settings)
      }
      return conf.difference
    } catch {
      throw CommandError(
        error.description, hint: error.hint ?? "then run the command again: the code is still valid for this box")
    }
  }

  /// The contents of the settings file, or `nil` if there is none.
  private static func settings(_ place: String) throws(FileError) -> [UInt8]? {
    guard try PrivateFile.check(place, widest: 0o644) else { return nil }
    return try DurableFile.read(place, limit: AgentConf.limit, widest: nil)
  }

  private func changed(_ settings: [UInt8], _ grant: EnrolmentGrant, _ service: AbsoluteURL) -> AgentConfText {
    var conf = AgentConfText(settings)
    conf.set("service", service.description)
    // The box's own key pair is the proof by which it recognizes the service at another address.
    conf.set("find-again", service.scheme == "http" && service.host.isOfLocalNetwork ? "yes" : nil)
    conf.set("requestor", grant.requestor.text)
    conf.set("public-key", grant.publicKey.text)
    // The secret file is in the default place beside the settings file, so no setting has to name it.
    conf.set("secret-file", nil)
    conf.set("software-statement", nil)
    if let authorities { conf.set("ca-file", authorities) }
    if let name { conf.set("name", name) }
    switch proxy {
    case .address(let address): conf.set("proxy", address.description)
    case .some(.none): conf.set("proxy", "none")
    case .environment, nil: break
    }
    return conf
  }

  /// Releases the lock on both files.
  consuming func release() {}

  /// Releases the lock after a failure.
  ///
  /// Removes the folder that was created, if it is still empty.
  consuming func giveUp() {
    let made = newFolder
    release()
    if let made { try? PrivateDirectory.remove(made) }
  }
}
