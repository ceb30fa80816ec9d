internal import RegentEncodings
import RegentJSON

/// What a device reports about itself, completed with what its User-Agent reveals.
public struct DeviceInformation: Hashable, Sendable {
  /// The keys of the JSON object with device information, as the protocol documents them.
  public enum Key: String, Hashable, Sendable, CaseIterable {
    case primaryHardwareType, model, version, manufacturer, vendor
    case osName, osFamily, osVendor, osVersion
    case browserName, browserVendor, browserVersion, userAgent
    case displayWidth, displayHeight, displayPpi, diagonalScreenSize
    case connectionIp, connectionPort, connectionType, connectionSecure
    case applicationId
    /// The name that the owner gave this device (an extension of Regent).
    case deviceName
  }

  /// The reported values, cleaned by ``CleanText``.
  public private(set) var values: [Key: String]

  public init() {
    values = [:]
  }

  /// Reads the header or parameter: base64 of a JSON object.
  ///
  /// Also accepts the URL-safe alphabet of base64, and a value that was URL-encoded once too often. Returns `nil` if
  /// the value cannot be read. Callers then continue without device information.
  public init?(reading encoded: String) {
    guard encoded.utf8.count <= 8192 else { return nil }
    let text = Self.percentDecoded(encoded)
    guard let json = try? Base64.decodeLeniently(text), json.count <= 6144 else { return nil }
    let limits = JSONLimits(depth: 4, bytes: 6144)
    guard let object = (try? JSONValue(reading: json, limits: limits))?.object else { return nil }
    values = [:]
    for key in Key.allCases {
      switch object[key.rawValue] {
      case .string(let text): self[key] = text
      case .integer(let number): self[key] = String(number)
      case .double(let number): self[key] = String(number)
      case .bool(let flag): self[key] = String(flag)
      default: continue
      }
    }
  }

  /// The value of a key of the device information.
  ///
  /// The setter cleans the value, and removes it if nothing visible remains.
  public subscript(key: Key) -> String? {
    get { values[key] }
    set { values[key] = newValue.flatMap { CleanText.line($0) } }
  }

  /// Returns a copy in which missing values are taken from the User-Agent.
  public func completed(byUserAgent userAgent: String?) -> DeviceInformation {
    guard let userAgent = userAgent.flatMap({ CleanText.line($0) }) else { return self }
    var complete = self
    for (key, value) in UserAgentGuess.values(for: userAgent) where complete.values[key] == nil {
      complete[key] = value
    }
    if complete[.userAgent] == nil { complete[.userAgent] = userAgent }
    return complete
  }

  /// The name that the approval page shows: the owner's name for the device, or else manufacturer and model, operating
  /// system or hardware type.
  public var displayName: String? {
    if let name = values[.deviceName] { return CleanText.line(name, longest: 128) }
    let maker = values[.manufacturer] ?? values[.vendor]
    if let model = values[.model] {
      guard let maker, !model.lowercased().hasPrefix(maker.lowercased()) else { return model }
      return CleanText.line("\(maker) \(model)", longest: 128)
    }
    return values[.osName] ?? values[.primaryHardwareType]
  }

  /// Decodes `%XX`.
  ///
  /// A text with an incomplete escape is returned unchanged.
  private static func percentDecoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var out: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        out.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy(Self.isHexDigit),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return text }
      out.append(value)
      rest = rest.dropFirst(2)
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
