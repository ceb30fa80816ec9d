import CommandKit
import Cryptography
import HTTPCodec
import Pairing
import PairingStore
import PairingStoreSQLite
import Platform
import SQLite

/// Opens the database with its master key; the first start makes both.
func openStore(
  _ places: ServicePlaces, onFailStop: @escaping @Sendable (SQLiteError) -> Void
) throws -> SQLiteStore {
  var options = SQLiteStoreOptions(
    path: places.database, masterKey: try masterKey(places),
    wallClock: { Instant(milliseconds: Clocks.wallMilliseconds()) })
  options.onFailStop = onFailStop
  return try SQLiteStore(options)
}

/// The master key: 32 bytes, or those as 64 hexadecimal digits, which is how the first start writes it.
private func masterKey(_ places: ServicePlaces) throws -> Secret {
  let path = places.masterKey
  let content: [UInt8]
  do throws(FileError) {
    content = try DurableFile.read(path, limit: 1024, widest: places.masterKeyMode)
  } catch {
    guard error.kind == .missing else { throw error }
    return try newMasterKey(places)
  }
  if content.count == 32 { return Secret(wiping: content) }
  let text = String(decoding: content, as: UTF8.self)
  let digits = text.hasSuffix("\n") ? String(text.dropLast()) : text
  guard let bytes = try? Hex.decodeEitherCase(digits), bytes.count == 32 else {
    throw CommandError(
      "the master key \(path) is neither 32 bytes nor 64 hexadecimal digits",
      hint: "give the file that the service made at its first start")
  }
  return Secret(wiping: bytes)
}

private func newMasterKey(_ places: ServicePlaces) throws -> Secret {
  // A database without its key is of no use, and a new key would only hide that.
  guard try !PrivateFile.check(places.database) else {
    throw CommandError(
      "the master key \(places.masterKey) is missing, and the database \(places.database) is sealed with it",
      hint: "put the key back, or move the database away to begin anew")
  }
  let key = Random.secret(32)
  try DurableFile.write(
    Array((Hex.encode(key.exposedBytes()) + "\n").utf8), to: places.masterKey)
  return key
}

/// What is wrong with the store's files, as a sentence and what to type.
func storeSentence(_ error: any Error) -> CommandError? {
  switch error {
  case let error as SQLiteStoreFailure: return CommandError(error.description)
  case let error as OpenFailure: return CommandError(error.description, hint: error.hint)
  case let error as SQLiteError:
    return CommandError(
      "the database cannot be opened: \(error.description)",
      hint: "see whether the disk is full or the file is damaged: regentd check")
  case let error as DatabaseFailure:
    return CommandError("the database cannot be used: \(error.description)")
  case let error as StoreError: return CommandError(error.description)
  case let error as KeyError: return CommandError(error.description)
  default: return nil
  }
}
