import CommandKit
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentPlatform

/// The box's key for the platform account: made with one sign-in, and good for that one alone.
///
/// The file (0600) holds its private half sealed with a key that the machine's id makes: the state folder alone, copied
/// to another machine, is worth nothing. Whoever copies the whole disk has the id as well; no TPM is asked for.
///
/// What the file held when it was read last stays open: each app's first start asks for the key, and opening one takes
/// OpenSSL as long as all the rest of the answer. Whoever reads this process's memory reads the file, too.
final class BoxKeyFile: Sendable {
  /// A key, and the mark of the sign-in that it was enrolled with.
  struct Kept: Sendable {
    let key: SigningKey
    let signIn: String
    /// What the service calls the box.
    let box: String
  }

  private struct Opened: Sendable {
    let bytes: [UInt8]
    let kept: Kept
  }

  private let path: String
  private let sealing: SealingKey?
  private let opened = Locked<Opened?>(nil)

  /// The file's name for the sealed value: what was sealed for something else does not open.
  private static let purpose = Array("regent box key".utf8)

  init(folder: String, machineIDFile: String = "/etc/machine-id") throws(FileError) {
    path = "\(folder)/key"
    let id = (try? DurableFile.read(machineIDFile, limit: 4_096, widest: nil)) ?? []
    let text = Array(id.prefix { $0 > 0x20 })
    // A machine without an id cannot be told from another one.
    sealing =
      text.isEmpty
      ? nil : SealingKey(id: 1, HKDF.derive(from: Secret(copying: text), info: "regent box key of this machine"))
  }

  /// The key of that sign-in; none when it was made for another one, on another machine, or is not there.
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

  /// A new key; it counts when it is kept.
  func newKey() throws(CommandError) -> SigningKey {
    guard sealing != nil else {
      throw CommandError(
        "this machine has no machine id, so a copied key could be used elsewhere",
        hint: "run sudo systemd-machine-id-setup",
        code: "account")
    }
    do throws(KeyError) {
      return try SigningKey.generate(.edDSA)
    } catch {
      throw CommandError("could not create a key: \(error)", code: "account")
    }
  }

  func keep(_ kept: Kept) throws(CommandError) {
    guard let sealing, let secret = try? kept.key.pkcs8() else {
      throw CommandError("could not encrypt the key", code: "account")
    }
    let object: JSONObject = [
      "version": 1, "signIn": .string(kept.signIn), "box": .string(kept.box),
      "key": .string(Base64.encode(sealing.seal(secret, associatedData: Self.purpose))),
    ]
    do throws(FileError) {
      try DurableFile.write(object.bytes(), to: path)
    } catch {
      throw CommandError("the box's key could not be stored: \(error.description)", hint: error.hint, code: "storage")
    }
  }

  func forget() {
    opened.withLock { $0 = nil }
    try? DurableFile.remove(path)
  }
}
