import RegentCryptography
import RegentEncodings
public import RegentPairing

extension ResourceID {
  /// The maximum length of a resource's name in a row, in bytes.
  ///
  /// Titles are shorter. A name of one kilobyte would take seven in the file, because SQLite stores the key twice.
  private static let longestStored = 128
  private static let mark = "sha256:"

  /// The name of the resource in rows: the resource itself, or a hash if it is long (resources have up to 8 KiB).
  ///
  /// A short resource that looks like a hash is hashed too, so that no two resources have the same name.
  public var stored: ResourceID { isMarked ? hashed : storedFromRow }

  /// The name now of a resource that a row names, which rows of version 0.1.0 name in full.
  public var storedFromRow: ResourceID { text.utf8.count > Self.longestStored ? hashed : self }

  /// Whether the resource looks like a hash.
  public var isMarked: Bool { text.hasPrefix(Self.mark) }

  private var hashed: ResourceID {
    guard let name = ResourceID(Self.mark + Hex.encode(SHA256.hash(text))) else {
      preconditionFailure("a mark and a hexadecimal hash are a resource")
    }
    return name
  }
}
