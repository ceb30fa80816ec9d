import PairingStore
import CommandKit
import RegentCryptography
internal import RegentEncodings
import RegentHTTPCodec
import PairingStoreSQLite
import RegentPlatform

/// The file of the master key: 32 bytes, or 64 hexadecimal digits, which is the format that the service writes.
///
/// A change of the key writes the new key to a second file, encrypts the data keys with it, and then renames the file.
/// If the service is killed in between, the next start tries both keys and completes or drops the change.
struct MasterKeyFile {
  private let paths: ServicePaths
  private var next: String { "\(paths.masterKey).next" }
  /// How long to wait for another process that holds the lock.
  ///
  /// A first start takes less.
  private static let patience = Duration.seconds(60)

  init(_ paths: ServicePaths) { self.paths = paths }

  /// Opens the database with its master key.
  ///
  /// The first start creates both.
  ///
  /// `isSealed` tells whether a database exists. In that case no new key may be created.
  func open<Opened>(isSealed: () throws -> Bool, _ open: (Secret) throws -> Opened) throws -> Opened {
    guard let pending = try read(next) else { return try openCurrent(isSealed, open) }
    guard try read(paths.masterKey) != nil || !isSealed() else { return try openAfterLoss(pending, open) }
    do {
      let store = try openCurrent(isSealed, open)
      // The change did not reach the database: no data key is encrypted with the new key.
      try DurableFile.remove(next)
      return store
    } catch StoreKeyFailure.wrongMasterKey {
      let store = try open(pending)
      try adopt(pending, old: nil)
      return store
    }
  }

  /// Opens the database with the pending new key, after the file of the current key was lost.
  ///
  /// A key change was interrupted before. If it had reached the database, the new key opens it. Otherwise no key does.
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
    // The lock keeps two first starts apart: one must not remove the key file that the other has just created and is
    // using.
    let lock = try? FileLock(beside: paths.masterKey, patience: Self.patience)
    let opened = Result { try openFirst(isSealed, open) }
    lock?.release()
    return try opened.get()
  }

  private func openFirst<Opened>(_ isSealed: () throws -> Bool, _ open: (Secret) throws -> Opened) throws -> Opened {
    if let key = try read(paths.masterKey) { return try open(key) }
    // A new key would only hide that the key of an existing database is lost.
    guard try !isSealed() else { throw missing }
    let key = Random.secret(32)
    try write(key, toNew: paths.masterKey)
    do {
      return try open(key)
    } catch {
      // Removes a new key that no database uses, because the next start may be for a database with another key. If that
      // is unknown, the key stays.
      var isUseless = (try? isSealed()) == false
      if case StoreKeyFailure.wrongMasterKey = error { isUseless = true }
      if isUseless { try? DurableFile.remove(paths.masterKey) }
      throw error
    }
  }

  /// Opens a database with the current key or with the new key of an interrupted change, whichever fits.
  ///
  /// It neither completes the change nor creates a key.
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

  /// Throws while it is unknown which of two keys the database is encrypted with.
  ///
  /// Opening a backup in this state would complete or drop the change for the wrong database, and the current one could
  /// lose its key.
  func refusePendingChange() throws {
    guard try PrivateFile.check(next, widest: paths.masterKeyMode) else { return }
    throw CommandError(
      "a change of the master key was interrupted: \(next) may be the key of the current database",
      hint:
        "run systemctl start regentd, then systemctl stop regentd: the start completes the change; if that database is "
        + "lost, move the file away: mv \(shellQuoted(next)) \(shellQuoted(next)).old"
    )
  }

  func stored() throws -> Secret? { try read(paths.masterKey) }

  /// Creates a new key and encrypts the data keys with it; works even if the file of the old key is lost.
  ///
  /// - Parameters:
  ///   - store: the store whose data keys are encrypted anew.
  ///   - held: the key that the database was opened with.
  /// - Returns: the path where the old key is kept, for older backups.
  /// - Throws: `CommandError` if neither key opens the database, or if the new key cannot be written.
  func change(of store: any OpenedStore, _ held: HeldMasterKey) async throws -> String {
    guard paths.masterKeyMode == 0o600 else {
      throw CommandError(
        "the master key is a systemd credential, which the service cannot change",
        hint: "start the service with a key file (--master-key FILE), then change the key")
    }
    let new = Random.secret(32)
    try write(new, to: next)
    let old: Secret
    do {
      old = try await reseal(store, with: new, held)
    } catch StoreKeyFailure.wrongMasterKey {
      // No data key was encrypted with the new key, so its file is removed.
      try? DurableFile.remove(next)
      throw CommandError(
        "\(paths.masterKey) is not the master key of this database; the key was not changed",
        hint: "another node changed the key: copy that node's key file to \(shellQuoted(paths.masterKey))")
    }
    held.hold(new)
    return try adopt(new, old: old)
  }

  /// Encrypts the data keys anew, with the key in the file or else the one that the database was opened with.
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

  /// Moves a new master key to its final path.
  ///
  /// The old key, or else the existing file, is kept under another name, because older backups need it.
  @discardableResult
  private func adopt(_ key: Secret, old: Secret?) throws -> String {
    let stamp = CivilDate.text(epochMilliseconds: Clocks.wallMilliseconds(), fraction: true)
    let kept = "\(paths.masterKey).until-\(stamp.filter { $0 != ":" })"
    let there = try? stored()
    if let old, there.map({ $0.exposedBytes() == old.exposedBytes() }) != true {
      // The key file is missing or belongs to another database, so the key in memory is kept in a file too.
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

  /// Writes a key to a new file; an existing file is not overwritten.
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
        hint: "use the file that the service created at its first start")
    }
    return Secret(emptying: &bytes)
  }

  private var missing: CommandError {
    CommandError(
      "the master key \(paths.masterKey) is missing; without it, the database \(paths.shownDatabase) cannot be opened",
      hint: paths.server == nil
        ? "put the key file back, or, while the service still runs, run regentctl master-key change; to give up all "
          + "data and start with an empty database, move the old database and its file .made away"
        : "copy the key file of another node to that path, or name it: --master-key FILE")
  }
}
