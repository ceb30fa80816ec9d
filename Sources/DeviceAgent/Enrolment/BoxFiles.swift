import AccessEnabler
import CommandKit
import RegentHTTPCodec
import RegentPairingWire
import RegentPlatform

/// Where a box's settings and its secret go, looked at and locked before the code is used: a code works once.
struct BoxFiles: ~Copyable {
  private let place: String
  private let secret: String
  private let authorities: String?
  private let lock: SettingsLock
  /// The folder, when it was not there before.
  private let newFolder: String?

  /// Makes sure that both can be written, that nobody else can put his own in their place, and that nobody else does
  /// the same just now.
  init(_ place: String, authorities: String?) throws(CommandError) {
    let beside = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { place[...$0] } ?? "./"
    guard authorities?.utf8.allSatisfy({ $0 >= 0x20 }) ?? true else {
      throw .usage("--ca-file: the path contains a line break", hint: "rename the file")
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
    self.lock = lock
    newFolder = isNew ? folder : nil
  }

  private static func ground(
    _ place: String, folder: String, isNew: Bool, secret: String
  ) throws(FileError) -> SettingsLock {
    // A folder that is there keeps its mode; a new one of a user is the user's alone.
    if isNew { try PrivateDirectory.ensure(folder) }
    try PrivateDirectory.requireOwn(folder)
    try PrivateFile.check(secret, widest: 0o7777)
    _ = try settings(place)
    let lock = try SettingsLock(place)
    // What was cut off before.
    for file in [place, secret] { try DurableFile.clearDrafts(of: file) }
    return lock
  }

  /// Writes the secret first: settings that name a key pair whose secret is not there would keep the box from starting.
  ///
  /// - Returns: the lines that are others now.
  func write(_ grant: EnrolmentGrant, _ service: AbsoluteURL) throws(CommandError) -> [String] {
    do throws(FileError) {
      // Once more: somebody may have changed them since, by hand.
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

  /// What the settings say now; nil when there are none.
  private static func settings(_ place: String) throws(FileError) -> [UInt8]? {
    guard try PrivateFile.check(place, widest: 0o644) else { return nil }
    return try DurableFile.read(place, limit: AgentConf.limit, widest: nil)
  }

  private func changed(_ settings: [UInt8], _ grant: EnrolmentGrant, _ service: AbsoluteURL) -> AgentConfText {
    var conf = AgentConfText(settings)
    conf.set("service", service.description)
    conf.set("requestor", grant.requestor.text)
    conf.set("public-key", grant.publicKey.text)
    // The secret stands beside the settings, where it is looked for.
    conf.set("secret-file", nil)
    conf.set("software-statement", nil)
    if let authorities { conf.set("ca-file", authorities) }
    return conf
  }

  /// Lets others set the box up again.
  consuming func release() {}

  /// The same when nothing came of it: a folder that was made for it goes, unless somebody has used it meanwhile.
  consuming func giveUp() {
    let made = newFolder
    release()
    if let made { try? PrivateDirectory.remove(made) }
  }
}
