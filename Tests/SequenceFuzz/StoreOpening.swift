import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import StorageFaults

/// The service's store on a real file, opened again at each restart.
final class StoreOpening {
  private let path: String
  private let master = Random.secret()
  /// The files are real; only the hardware is not waited for.
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

  /// The end of the story: what the disk remembers of its files would add up over an hour of stories.
  func end() {
    close()
    disk.forget()
  }
}
