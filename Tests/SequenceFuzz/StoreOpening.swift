import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import StorageFaults

/// Opens the service's store, on a real file, at each start.
final class StoreOpening {
  private let path: String
  private let master = Random.secret()
  /// Writes real files, but does not wait for the disk.
  private let disk = FaultyDisk()
  private let fault: PlantedFault?
  private var store: SQLiteStore?

  init(folder: String, fault: PlantedFault?) {
    path = "\(folder)/regent.db"
    self.fault = fault
  }

  func open() throws -> any Store {
    var options = SQLiteStoreOptions(
      path: path, masterKey: master, wallClock: { Instant(milliseconds: 0) })
    options.fileLayer = disk.name
    let opened = try SQLiteStore(options)
    store = opened
    return fault.map { PlantedStore(target: opened, fault: $0) } ?? opened
  }

  func reopen() throws -> any Store {
    close()
    return try open()
  }

  func close() {
    store?.close()
    store = nil
  }

  /// Ends the story.
  ///
  /// The disk's record of written files would otherwise grow over an hour of stories.
  func end() {
    close()
    disk.forget()
  }
}
