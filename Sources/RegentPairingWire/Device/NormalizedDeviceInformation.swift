import RegentJSON

extension DeviceInformation {
  /// The device information as the nested JSON object that a code's record carries in base64 as `info.deviceInfo`.
  public var normalizedJSON: String {
    let bytes = JSONWriter.bytes { json in
      json.object { json in
        json.text("type", values[.primaryHardwareType])
        json.text("model", values[.model])
        json.version("version", values[.version])
        json.group(
          "hardware",
          [
            ("name", values[.model]), ("vendor", values[.vendor]), ("version", values[.version]),
            ("manufacturer", values[.manufacturer]),
          ])
        json.group(
          "operatingSystem",
          [
            ("name", values[.osName]), ("family", values[.osFamily]), ("vendor", values[.osVendor]),
            ("version", values[.osVersion]),
          ])
        json.group(
          "browser",
          [
            ("name", values[.browserName]), ("vendor", values[.browserVendor]),
            ("version", values[.browserVersion]), ("userAgent", values[.userAgent]),
          ])
        json.group(
          "display",
          [
            ("width", values[.displayWidth]), ("height", values[.displayHeight]),
            ("ppi", values[.displayPpi]), ("diagonalSize", values[.diagonalScreenSize]),
          ])
        json.text("applicationId", values[.applicationId])
        json.group(
          "connection",
          [
            ("ipAddress", values[.connectionIp]), ("port", values[.connectionPort]),
            ("secure", values[.connectionSecure]), ("type", values[.connectionType]),
          ])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONWriter {
  fileprivate mutating func text(_ name: String, _ value: String?) {
    if let value { member(name, value) }
  }

  /// Writes a JSON object with the members that are known, or no object if none is known.
  fileprivate mutating func group(_ name: String, _ members: [(String, String?)]) {
    guard members.contains(where: { $0.1 != nil }) else { return }
    object(name) { json in
      for (name, value) in members { json.text(name, value) }
    }
  }

  /// Writes a version number such as `2.1.3` as an object of numbers.
  ///
  /// A version of another form is omitted.
  fileprivate mutating func version(_ name: String, _ text: String?) {
    let parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false).map {
      Int64($0)
    }
    guard (1...4).contains(parts.count), parts.allSatisfy({ $0.map { $0 >= 0 } ?? false }) else {
      return
    }
    object(name) { json in
      for (name, part) in zip(["major", "minor", "patch", "profile"], parts) {
        if let part { json.member(name, part) }
      }
    }
  }
}
