/// Why the keys of a store could not be opened.
public enum StoreKeyFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The master key has another length than 32 bytes.
  case masterKeyLength(found: Int)
  /// The data keys were sealed with another master key, or changed.
  case wrongMasterKey(dataKey: String)
  /// A data key is gone while others are there.
  case missingDataKey(String)

  /// What is wrong and what to do about it.
  public var description: String {
    switch self {
    case .masterKeyLength(let found):
      "the master key has \(found) bytes instead of 32: give the file that the service made"
    case .wrongMasterKey(let name):
      "the master key does not open the data key “\(name)”: give the key that belongs to this database"
    case .missingDataKey(let name):
      "the data key “\(name)” is missing from the database: restore the last backup"
    }
  }
}
