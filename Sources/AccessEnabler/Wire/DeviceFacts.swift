internal import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPlatform
import RegentPairingWire

/// Information about the box that the system provides: operating system, manufacturer and model.
enum DeviceFacts {
  /// Fills in the device information that the app has not set.
  static func complete(
    _ given: DeviceInformation, root: String = "", hostName: String? = machineName()
  ) -> DeviceInformation {
    var device = given
    func fill(_ key: DeviceInformation.Key, _ value: String?) {
      if device[key] == nil, let value, !value.isEmpty { device[key] = value }
    }
    fill(.deviceName, hostName.flatMap(nameForPeople))
    let release = osRelease("\(root)/etc/os-release")
    fill(.osName, "Linux")
    fill(.osFamily, "Linux")
    fill(.osVendor, release["ID"])
    fill(.osVersion, release["VERSION_ID"] ?? release["PRETTY_NAME"])
    let dmi = "\(root)/sys/class/dmi/id"
    // Boards without firmware tables have the model in a device tree.
    fill(.model, line("\(dmi)/product_name") ?? line("\(root)/proc/device-tree/model"))
    fill(.manufacturer, line("\(dmi)/sys_vendor"))
    fill(.version, line("\(dmi)/product_version"))
    fill(.model, "Linux box")
    fill(.primaryHardwareType, "SetTopBox")
    return device
  }

  /// The first label of a host name; nil for host names that many machines have, such as `localhost`.
  private static func nameForPeople(_ hostName: String) -> String? {
    let first = hostName.prefix { $0 != "." }
    return first.isEmpty || first.lowercased() == "localhost" || first == "(none)"
      ? nil : String(first)
  }

  /// The value of the header with device information: the base64 of a JSON object.
  static func headerValue(_ device: DeviceInformation, _ options: EnablerOptions) -> String {
    var all = Dictionary(
      uniqueKeysWithValues: device.values.map { ($0.key.rawValue, OptionValue.text($0.value)) })
    for (name, value) in options.deviceInformation { all[name] = .text(value) }
    for (name, value) in options.deviceDetails { all[name] = value }
    return Base64.encode(
      JSONObject(all.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) }).bytes())
  }

  /// Device type, client type and operating system for tracking events.
  static func tracked(_ device: DeviceInformation) -> [String] {
    let type =
      switch device[.primaryHardwareType] {
      case "Desktop"?: "computer"
      case "GamesConsole"?: "gameconsole"
      case "Tablet"?: "tablet"
      case "MobilePhone"?: "mobile"
      default: "unknown"
      }
    let system = [device[.osName], device[.osVersion]].compactMap { $0 }.joined(separator: " ")
    return [type, "linux", system]
  }

  /// The first line of a small system file; nil for placeholders that some manufacturers leave in it.
  private static func line(_ path: String) -> String? {
    guard let bytes = try? DurableFile.read(path, limit: 4096, widest: nil) else { return nil }
    let text = String(decoding: bytes.prefix { $0 >= 0x20 }, as: UTF8.self)
    let isPlaceholder = ["To Be Filled By O.E.M.", "System Product Name", "None", "Default string"]
      .contains(text)
    return text.isEmpty || isPlaceholder ? nil : text
  }

  private static func osRelease(_ path: String) -> [String: String] {
    guard
      let bytes =
        (try? DurableFile.read(path, limit: 65_536, widest: nil))
        // The usual path `/etc/os-release` is only a link on most systems, so this path is tried next.
        ?? (try? DurableFile.read(
          path.replacingEtc, limit: 65_536, widest: nil))
    else { return [:] }
    var values: [String: String] = [:]
    for line in TextLines.texts(of: bytes) {
      guard let sign = line.firstIndex(of: "="), !line.hasPrefix("#") else { continue }
      let value = line[line.index(after: sign)...].filter { $0 != "\"" && $0 != "'" }
      values[String(line[..<sign])] = value
    }
    return values
  }
}

extension String {
  fileprivate var replacingEtc: String {
    hasSuffix("/etc/os-release") ? String(dropLast(15)) + "/usr/lib/os-release" : self
  }
}
