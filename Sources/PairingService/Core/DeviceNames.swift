internal import RegentCryptography
internal import RegentEncodings
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

// How boxes are called where operators read: in lists and in the audit log, by the same name.

extension DeviceHash {
  /// The first 16 hexadecimal digits: enough to tell a million devices apart, short enough to be copied.
  var shortName: String { Hex.encode(Array(bytes.prefix(8))) }
}

extension RegistrationRecord {
  /// Which box it is for: `device 3f9a0c21d4e5b687 Living room TV`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }

  /// The same with the requestor: `acme, device 3f9a0c21d4e5b687 Living room TV`.
  var auditLabel: String { "\(requestor), \(deviceTitle)" }
}

extension AuthenticationRecord {
  /// Which box it is: `device 3f9a0c21d4e5b687 Living room TV`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }
}

/// What the box calls itself comes last: it may be made to look like anything.
private func deviceTitle(_ device: DeviceHash, _ about: DeviceDescription) -> String {
  let name = about.name.flatMap { CleanText.line($0, longest: 64) }
  return "device \(device.shortName)" + (name.map { " \($0)" } ?? "")
}
