import RegentCryptography
internal import RegentEncodings
import RegentJSON
import RegentPlatform

/// The identity of this installation: its device id, and the key for the seal (MAC) of its token store.
struct Installation: Sendable {
  /// The device id: 256 random bits as 64 hexadecimal digits.
  ///
  /// The bits are not derived from the machine, so that the id identifies the machine nowhere else.
  let deviceID: String
  private let key: Secret
  /// A MAC of the machine's id, which shows whether the files were copied to another machine.
  ///
  /// The machine's id itself is not stored, and only this installation can compute the MAC.
  private let machineMark: String

  /// Creates an installation on this machine.
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

  /// Whether the installation was created on this machine.
  ///
  /// A machine without an id matches every installation.
  func belongs(to machineID: String) -> Bool {
    let here = Self.mark(machineID, key)
    return here.isEmpty || machineMark.isEmpty || here == machineMark
  }

  /// A hash of the device id, which the token store contains so that the id itself is only in the installation file.
  var deviceMark: String { Hex.encode(SHA256.hash("regent device mark\n" + deviceID)) }

  /// Computes the MAC (the seal) over a token store's content.
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
  // Cannot fail: only an empty key is refused, and this key always has 32 bytes.
  guard let hmac = try? HMACKey(.sha256, key) else { return [] }
  return hmac.code(Array(purpose.utf8) + bytes)
}

extension Installation {
  /// The content of the installation file.
  var bytes: [UInt8] {
    let object: JSONObject = [
      "version": 1, "deviceID": .string(deviceID),
      "key": .string(Base64.encode(key.exposedBytes())), "machine": .string(machineMark),
    ]
    return object.bytes()
  }

  /// Parses the content of an installation file; nil if it is damaged.
  init?(reading bytes: [UInt8]) {
    let limits = JSONLimits(depth: 2, bytes: 4096)
    guard let object = (try? JSONValue(reading: bytes, limits: limits))?.object,
      object["version"]?.int64 == 1, let deviceID = object["deviceID"]?.string,
      (try? Hex.decode(deviceID))?.count == 32,
      var key = object["key"]?.string.flatMap({ try? Base64.decode($0) }), key.count == 32,
      let machine = object["machine"]?.string
    else { return nil }
    self.init(deviceID: deviceID, key: Secret(emptying: &key), machineMark: machine)
  }
}
