import RegentCryptography
internal import RegentEncodings
import RegentJSON
import RegentPlatform

/// What makes this installation itself: its device id, and the key that its token store is sealed against damage with.
struct Installation: Sendable {
  /// 256 random bits as 64 hexadecimal digits; never anything that the machine is known by elsewhere.
  let deviceID: String
  private let key: Secret
  /// A mark of the machine that only this installation can compute: the id of the machine itself is not kept.
  private let machineMark: String

  /// A new installation on this machine.
  init(machineID: String) {
    let key = Random.secret(32)
    self.init(
      deviceID: Hex.encode(Random.bytes(32)), key: key,
      machineMark: Self.mark(machineID, key))
  }

  private init(deviceID: String, key: Secret, machineMark: String) {
    self.deviceID = deviceID
    self.key = key
    self.machineMark = machineMark
  }

  /// Whether it was made on this machine; a machine without an id of its own cannot be told from others.
  func belongs(to machineID: String) -> Bool {
    let here = Self.mark(machineID, key)
    return here.isEmpty || machineMark.isEmpty || here == machineMark
  }

  /// What stands in the store instead of the device id.
  var deviceMark: String { Hex.encode(SHA256.hash("regent device mark\n" + deviceID)) }

  /// The code over a store's content.
  func seal(_ bytes: [UInt8]) -> [UInt8] {
    code("regent token store\n", bytes, key)
  }

  func isSeal(_ seal: [UInt8], of bytes: [UInt8]) -> Bool {
    constantTimeEqual(seal, self.seal(bytes))
  }

  private static func mark(_ machineID: String, _ key: Secret) -> String {
    machineID.isEmpty ? "" : Hex.encode(code("regent machine mark\n", Array(machineID.utf8), key))
  }
}

private func code(_ purpose: String, _ bytes: [UInt8], _ key: Secret) -> [UInt8] {
  // The key always has 32 bytes; only an empty one is refused.
  guard let hmac = try? HMACKey(.sha256, key) else { return [] }
  return hmac.code(Array(purpose.utf8) + bytes)
}

extension Installation {
  /// The file's content.
  var bytes: [UInt8] {
    let object: JSONObject = [
      "version": 1, "deviceID": .string(deviceID),
      "key": .string(Base64.encode(key.exposedBytes())), "machine": .string(machineMark),
    ]
    return object.bytes()
  }

  /// Reads a file's content; nothing when it is damaged.
  init?(reading bytes: [UInt8]) {
    let limits = JSONLimits(depth: 2, bytes: 4096)
    guard let object = (try? JSONValue(reading: bytes, limits: limits))?.object,
      object["version"]?.int64 == 1, let deviceID = object["deviceID"]?.string,
      (try? Hex.decode(deviceID))?.count == 32,
      let key = object["key"]?.string.flatMap({ try? Base64.decode($0) }), key.count == 32,
      let machine = object["machine"]?.string
    else { return nil }
    self.init(deviceID: deviceID, key: Secret(wiping: key), machineMark: machine)
  }
}
