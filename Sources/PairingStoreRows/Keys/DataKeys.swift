import RegentCryptography
import PairingStore
import RegentSQL

/// The service's random keys, stored encrypted with a master key that is not in the database.
enum DataKeys {
  private static let core = ["sealing", "records", "rows"]
  static let table = "data_key"

  static func masterKey(_ secret: Secret) throws(StoreKeyFailure) -> SealingKey {
    guard let key = SealingKey(id: 0, secret) else {
      throw .masterKeyLength(found: secret.count)
    }
    return key
  }

  /// Decrypts the data keys and generates missing ones.
  static func open(in context: borrowing WriteContext, with master: SealingKey) throws -> Vault {
    var keys = try stored(in: context, master)
    let wanted = core + KeyPurpose.allCases.map(name)
    // After an upgrade the key for a new purpose may be missing; it is generated. But without any one of the three core
    // keys no existing row could be verified or decrypted, and generating that key would hide the loss.
    if !keys.isEmpty, let missing = core.first(where: { keys[$0] == nil }) {
      throw StoreKeyFailure.missingDataKey(missing)
    }
    for purpose in wanted where keys[purpose] == nil {
      let secret = Random.secret()
      try context.run(
        "INSERT INTO data_key (purpose, sealed) VALUES (\(purpose), \(seal(secret, purpose, master)))"
      )
      keys[purpose] = secret
    }
    return try vault(of: keys)
  }

  /// Decrypts the existing data keys.
  ///
  /// It generates no missing ones.
  static func look<Context: Querying & ~Copyable>(
    in context: borrowing Context, with master: SealingKey
  ) throws -> Vault {
    try vault(of: stored(in: context, master))
  }

  private static func vault(of keys: [String: Secret]) throws -> Vault {
    guard let sealing = keys["sealing"].flatMap({ SealingKey(id: 1, $0) }),
      let records = keys["records"], let rows = keys["rows"]
    else { throw StoreKeyFailure.missingDataKey("sealing") }
    var material: [KeyPurpose: StoredSecret] = [:]
    for purpose in KeyPurpose.allCases {
      material[purpose] = keys[name(purpose)].map { StoredSecret($0.exposedBytes()) }
    }
    return Vault(
      sealing: sealing, records: try HMACKey(.sha256, records), rows: rows, material: material)
  }

  static func reseal(
    in context: borrowing WriteContext, from old: SealingKey, to new: SealingKey
  ) throws {
    for (purpose, secret) in try stored(in: context, old) {
      try context.run(
        "UPDATE data_key SET sealed = \(seal(secret, purpose, new)) WHERE purpose = \(purpose)")
    }
  }

  private static func stored<Context: Querying & ~Copyable>(
    in context: borrowing Context, _ master: SealingKey
  ) throws -> [String: Secret] {
    let rows = try context.all("SELECT purpose, sealed FROM data_key") {
      (purpose: try $0.text(0), box: try $0.blob(1))
    }
    var keys: [String: Secret] = [:]
    for (purpose, box) in rows {
      do throws(SealError) {
        keys[purpose] = try master.open(box, associatedData: place(purpose))
      } catch {
        throw StoreKeyFailure.wrongMasterKey(dataKey: purpose)
      }
    }
    return keys
  }

  private static func seal(_ secret: Secret, _ purpose: String, _ master: SealingKey) -> [UInt8] {
    master.seal(secret, associatedData: place(purpose))
  }

  private static func place(_ purpose: String) -> [UInt8] {
    var fields = FramedFields(purpose: table, version: 1)
    fields.append(purpose)
    return fields.bytes
  }

  private static func name(_ purpose: KeyPurpose) -> String { "material.\(purpose.rawValue)" }
}
