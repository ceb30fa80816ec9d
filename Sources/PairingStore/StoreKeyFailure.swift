/// Why the keys of a store could not be opened.
public enum StoreKeyFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The master key does not have 32 bytes.
  case masterKeyLength(found: Int)
  /// The data key cannot be decrypted: it was encrypted with another master key, or its stored bytes were changed.
  case wrongMasterKey(dataKey: String)
  /// The data key is missing although other data keys exist.
  case missingDataKey(String)

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
