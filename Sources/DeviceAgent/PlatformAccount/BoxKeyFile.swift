import CommandKit
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentPlatform

/// The box's key for its shared account (the platform account).
///
/// A key belongs to one sign-in and is not used for another.
///
/// The file (mode 0600) holds the private key encrypted with a key derived from the machine id. A copy of the state
/// folder alone is therefore useless on another machine. An attacker who copies the whole disk also has the machine id;
/// a TPM is not used.
///
/// The decrypted key stays in memory until the file changes, because each app needs it at its first start, and
/// decrypting it takes OpenSSL as long as the rest of the response. Keeping it in memory adds no risk: an attacker who
/// can read this process's memory can also read the file.
final class BoxKeyFile: Sendable {
  /// The box's key and the hash of the sign-in for which it was registered.
  struct Kept: Sendable {
    let key: SigningKey
    let signIn: String
    /// The id that the service gave the box; empty while the key is not registered.
    let box: String
  }

  private struct Opened: Sendable {
    let bytes: [UInt8]
    let kept: Kept
  }

  private let path: String
  private let sealing: SealingKey?
  private let opened = Locked<Opened?>(nil)

  /// The associated data of the encryption, so that a value that was encrypted for another purpose is not accepted.
  private static let purpose = Array("regent box key".utf8)

  init(folder: String, machineIDFile: String = "/etc/machine-id") throws(FileError) {
    path = "\(folder)/key"
    let id = (try? DurableFile.read(machineIDFile, limit: 4_096, widest: nil)) ?? []
    let text = Array(id.prefix { $0 > 0x20 })
    // If the machine has no id, the key cannot be bound to this machine.
    sealing =
      text.isEmpty
      ? nil : SealingKey(id: 1, HKDF.derive(from: Secret(copying: text), info: "regent box key of this machine"))
  }

  /// The box's key for this sign-in.
  ///
  /// Returns `nil` if there is none, or if it belongs to another sign-in or another machine.
  func key(of signIn: String) throws(CommandError) -> Kept? {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try DurableFile.read(path, limit: 16_384, widest: 0o600)
    } catch {
      opened.withLock { $0 = nil }
      if error.kind == .missing { return nil }
      throw CommandError(error.description, hint: error.hint, code: "account")
    }
    if let last = opened.withLock({ $0 }), last.bytes == bytes { return last.kept.signIn == signIn ? last.kept : nil }
    let limits = JSONLimits(depth: 2, bytes: 16_384)
    guard let object = (try? JSONValue(reading: bytes, limits: limits))?.object, object["version"]?.int64 == 1,
      object["signIn"]?.string == signIn, let box = object["box"]?.string,
      let sealed = object["key"]?.string.flatMap({ try? Base64.decode($0) }),
      let secret = try? sealing?.open(sealed, associatedData: Self.purpose),
      let key = try? SigningKey(pkcs8: secret)
    else { return nil }
    let kept = Kept(key: key, signIn: signIn, box: box)
    self.opened.withLock { $0 = Opened(bytes: bytes, kept: kept) }
    return kept
  }

  /// Generates a key for the box.
  ///
  /// The caller must register it at the service and then call ``keep(_:)``.
  func newKey() throws(CommandError) -> SigningKey {
    guard sealing != nil else {
      throw CommandError(
        "this machine has no machine id (/etc/machine-id), so a copied key could be used on another machine",
        hint: "run sudo systemd-machine-id-setup",
        code: "account")
    }
    do throws(KeyError) {
      return try SigningKey.generate(.edDSA)
    } catch {
      throw CommandError(
        "could not create a key for the box's account: \(error)", hint: "nothing was stored; run the command again",
        code: "account")
    }
  }

  func keep(_ kept: Kept) throws(CommandError) {
    guard let sealing, let secret = try? kept.key.pkcs8() else {
      throw CommandError(
        "could not encrypt the key of the box's account", hint: "nothing was stored; run the command again",
        code: "account")
    }
    let object: JSONObject = [
      "version": 1, "signIn": .string(kept.signIn), "box": .string(kept.box),
      "key": .string(Base64.encode(sealing.seal(secret, associatedData: Self.purpose))),
    ]
    do throws(FileError) {
      try DurableFile.write(object.bytes(), to: path)
    } catch {
      throw CommandError(
        "the key of the box's account could not be stored: \(error.description)", hint: error.hint, code: "storage")
    }
  }

  func forget() {
    opened.withLock { $0 = nil }
    try? DurableFile.remove(path)
  }
}
