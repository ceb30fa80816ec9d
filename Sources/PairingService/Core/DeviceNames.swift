internal import RegentCryptography
internal import Administration
internal import RegentEncodings
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

// How boxes are named for operators, the same in lists and in the audit log.

extension DeviceHash {
  /// The first 16 hexadecimal digits: enough to distinguish a million devices, short enough to copy.
  var shortName: String { Hex.encode(Array(bytes.prefix(8))) }
}

extension RegistrationRecord {
  /// The box that the code is for: `device 3f9a0c21d4e5b687 "Living room TV"`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }

  /// The box with its requestor: `acme, device 3f9a0c21d4e5b687 "Living room TV"`.
  var auditLabel: String { "\(requestor)\(report), \(deviceTitle)" }

  /// What the app reported when it asked for the code, as in ``AuthenticationRecord/report``.
  var report: String { PairingService.report(about, profile) }
}

extension AuthenticationRecord {
  /// The box: `device 3f9a0c21d4e5b687 "Living room TV"`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }
}

extension AuthenticationRecord {
  /// What the app reported: `, visitor "v-1", profile tv, data {"campaign":"spring"}`; empty when it reported nothing.
  var report: String { PairingService.report(about, authentication.profile) }
}

extension AppReport {
  /// What the app reported, for JSON documents.
  init?(_ about: DeviceDescription, _ profile: ProfileName?) {
    self.init(visitorID: about.visitorID, profile: profile?.text, data: about.data, options: about.options)
  }
}

/// The report stands before the box's name and in quotes, so that the app's text cannot be mistaken for the text after
/// it.
private func report(_ about: DeviceDescription, _ profile: ProfileName?) -> String {
  // Limited, because the audit log holds many such lines.
  let longest = 512
  let facts = [
    about.visitorID.map { "visitor " + VisitorPseudonym.text($0) }, profile.map { "profile \($0)" },
    about.data.map { "data " + (CleanText.line($0, longest: longest) ?? "") },
    about.options.map { "options " + (CleanText.line($0, longest: longest) ?? "") },
  ]
  return facts.compactMap(\.self).map { ", \($0)" }.joined()
}

/// The name that the box chose stands last and in quotes, so that it cannot imitate another sentence of the log.
private func deviceTitle(_ device: DeviceHash, _ about: DeviceDescription) -> String {
  let name = about.name.flatMap { CleanText.line($0, longest: 64) }
  return "device \(device.shortName)" + (name.map { " \($0.quoted)" } ?? "")
}

extension String {
  /// The text in quotes, with quotes, backslashes and control characters escaped as in JSON.
  ///
  /// For text that a box, a client or a person chose, in audit lines and findings: it cannot be read as part of the
  /// sentence around it.
  var quoted: String { VisitorPseudonym.text(self) }

  /// The text without white space at its beginning and end.
  var withoutOuterSpaces: String {
    var rest = unicodeScalars[...]
    while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
