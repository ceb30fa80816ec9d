import PairingStore
import CommandKit
import RegentCryptography
internal import RegentEncodings
import RegentHTTPCodec
import PairingStoreSQLite
import RegentPlatform

/// The file of the master key: 32 bytes, or those as 64 hexadecimal digits, which is how the service writes it.
///
/// A change writes the new key beside the old one first, then seals the data keys with it, then gives it its name.
/// Whoever is killed in between finds at the next start that one of the two opens the database, and goes on from there.
struct MasterKeyFile {
  private let paths: ServicePaths
  private var next: String { "\(paths.masterKey).next" }
  /// Longer than a first start takes.
  private static let patience = Duration.seconds(60)

  init(_ paths: ServicePaths) { self.paths = paths }

  /// Opens the database with its key; the first start makes both.
  ///
  /// `isSealed` says whether the database is there: then it must not be given a new key.
  func open<Opened>(isSealed: () throws -> Bool, _ open: (Secret) throws -> Opened) throws -> Opened {
    guard let pending = try read(next) else { return try openCurrent(isSealed, open) }
    guard try read(paths.masterKey) != nil || !isSealed() else { return try openAfterLoss(pending, open) }
    do {
      let store = try openCurrent(isSealed, open)
      // The change never reached the database: nothing is sealed with the new key.
      try DurableFile.remove(next)
      return store
    } catch StoreKeyFailure.wrongMasterKey {
      let store = try open(pending)
      try adopt(pending, old: nil)
      return store
    }
  }

  /// A change that was cut short in a service whose key file was lost: only the new key can open the database.
  private func openAfterLoss<Opened>(_ pending: Secret, _ open: (Secret) throws -> Opened) throws -> Opened {
    do {
      let store = try open(pending)
      try adopt(pending, old: nil)
      return store
    } catch StoreKeyFailure.wrongMasterKey {
      throw missing
    }
  }

  private func openCurrent<Opened>(_ isSealed: () throws -> Bool, _ open: (Secret) throws -> Opened) throws -> Opened {
    guard try !isSealed() else { return try open(try current()) }
    // A key that another first start has just made must not be taken away by that one while this one seals with it.
    let lock = try? FileLock(beside: paths.masterKey, patience: Self.patience)
    let opened = Result { try openFirst(isSealed, open) }
    lock?.release()
    return try opened.get()
  }

  private func openFirst<Opened>(_ isSealed: () throws -> Bool, _ open: (Secret) throws -> Opened) throws -> Opened {
    if let key = try read(paths.masterKey) { return try open(key) }
    // A database without its key is of no use, and a new key would only hide that.
    guard try !isSealed() else { throw missing }
    let key = Random.secret(32)
    try write(key, toNew: paths.masterKey)
    do {
      return try open(key)
    } catch {
      // When nothing is sealed with it, the next start may be meant for a database that has another one. Where nobody
      // knows it stays.
      var isUseless = (try? isSealed()) == false
      if case StoreKeyFailure.wrongMasterKey = error { isUseless = true }
      if isUseless { try? DurableFile.remove(paths.masterKey) }
      throw error
    }
  }

  /// Opens a database with whichever of the two keys fits; nothing is settled, and no key is made.
  func look<Opened>(_ open: (Secret) throws -> Opened) throws -> Opened {
    guard let key = try read(paths.masterKey) else {
      guard let pending = try read(next) else { throw missing }
      return try open(pending)
    }
    do {
      return try open(key)
    } catch StoreKeyFailure.wrongMasterKey(let name) {
      guard let pending = try read(next) else {
        throw StoreKeyFailure.wrongMasterKey(dataKey: name)
      }
      return try open(pending)
    }
  }

  /// Refuses to go on while nobody knows which of two keys the database is sealed with.
  ///
  /// Opening a backup instead of it would settle that question wrongly, and the database that is kept could lose its
  /// key.
  func refusePendingChange() throws {
    guard try PrivateFile.check(next, widest: paths.masterKeyMode) else { return }
    throw CommandError(
      "a change of the master key was cut short: \(next) may be the key of the database that is there",
      hint:
        "settle it first: start the service and stop it; if that database is lost anyhow, move the file away"
    )
  }

  /// The key in the file; nil when there is none.
  func stored() throws -> Secret? { try read(paths.masterKey) }

  /// Makes a new key and seals the data keys with it, also when the file of the old one is lost.
  ///
  /// - Parameters:
  ///   - store: what is sealed.
  ///   - held: the key that the database was opened with.
  /// - Returns: where the old key is kept, for the backups that it opens.
  /// - Throws: `CommandError` when neither key opens the database, or when the new one cannot be written.
  func change(of store: any OpenedStore, _ held: HeldMasterKey) async throws -> String {
    guard paths.masterKeyMode == 0o600 else {
      throw CommandError(
        "the master key is a credential of the service manager, which the service cannot write",
        hint: "give the service a file of its own with --master-key, then change it")
    }
    let new = Random.secret(32)
    try write(new, to: next)
    let old: Secret
    do {
      old = try await reseal(store, with: new, held)
    } catch StoreKeyFailure.wrongMasterKey {
      // Nothing was sealed with it.
      try? DurableFile.remove(next)
      throw CommandError(
        "\(paths.masterKey) is not the key of this database, and the service has not the one that is",
        hint: "another service on this database changed it: put that one's key there")
    }
    held.hold(new)
    return try adopt(new, old: old)
  }

  /// Seals the data keys anew: from the key in the file, else from the one that the database was opened with.
  private func reseal(_ store: any OpenedStore, with new: Secret, _ held: HeldMasterKey) async throws -> Secret {
    if let key = try? stored() {
      do {
        try await store.changeMasterKey(from: key, to: new)
        return key
      } catch StoreKeyFailure.wrongMasterKey {}
    }
    guard let key = held.current else { throw missing }
    try await store.changeMasterKey(from: key, to: new)
    return key
  }

  /// Gives a key its place; the old one, else the file that is there, keeps another name, because a lost key is lost
  /// for every backup.
  @discardableResult
  private func adopt(_ key: Secret, old: Secret?) throws -> String {
    let stamp = CivilDate.text(epochMilliseconds: Clocks.wallMilliseconds(), fraction: true)
    let kept = "\(paths.masterKey).until-\(stamp.filter { $0 != ":" })"
    let there = try? stored()
    if let old, there.map({ $0.exposedBytes() == old.exposedBytes() }) != true {
      // The file was lost, or has another database's key: that one is kept, too.
      try write(old, to: kept)
      if there != nil { try DurableFile.keep(paths.masterKey, as: "\(kept).other") }
    } else if there != nil {
      try DurableFile.keep(paths.masterKey, as: kept)
    }
    try write(key, to: paths.masterKey)
    try DurableFile.remove(next)
    return kept
  }

  private func write(_ key: Secret, to path: String) throws {
    try DurableFile.write(Array((Hex.encode(key.exposedBytes()) + "\n").utf8), to: path)
  }

  /// Writes a key where none may be: one that was put there meanwhile stays.
  private func write(_ key: Secret, toNew path: String) throws {
    let draft = "\(path).first"
    try write(key, to: draft)
    defer { try? DurableFile.remove(draft) }
    try DurableFile.keep(draft, as: path)
  }

  private func current() throws -> Secret {
    guard let key = try read(paths.masterKey) else { throw missing }
    return key
  }

  private func read(_ path: String) throws -> Secret? {
    var content: [UInt8]
    do throws(FileError) {
      content = try DurableFile.read(path, limit: 1024, widest: paths.masterKeyMode)
    } catch {
      guard error.kind == .missing else { throw error }
      return nil
    }
    if content.count == 32 { return Secret(emptying: &content) }
    let line = content.last == UInt8(ascii: "\n") ? content.dropLast() : content[...]
    let digits = String(decoding: TextLines.withoutReturn(line), as: UTF8.self)
    guard var bytes = try? Hex.decodeEitherCase(digits), bytes.count == 32 else {
      throw CommandError(
        "the master key \(path) is neither 32 bytes nor 64 hexadecimal digits",
        hint: "give the file that the service made at its first start")
    }
    return Secret(emptying: &bytes)
  }

  private var missing: CommandError {
    CommandError(
      "the master key \(paths.masterKey) is missing, and the database \(paths.shownDatabase) is sealed with it",
      hint: paths.server == nil
        ? "put the key back, or move the database away to begin anew"
        : "put the key there that the other services on this database have, or name it: --master-key FILE")
  }
}
