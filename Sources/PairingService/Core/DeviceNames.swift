internal import RegentCryptography
internal import Administration
internal import RegentEncodings
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

// Names of boxes for operators, the same in lists and in the audit log.

extension DeviceHash {
  /// The device's short name: the first 16 hexadecimal digits of its hash.
  ///
  /// They are enough to distinguish a million devices, and short enough to copy.
  var shortName: String { Hex.encode(Array(bytes.prefix(8))) }
}

extension RegistrationRecord {
  /// The name of the code's box for operators: `device 3f9a0c21d4e5b687 "Living room TV"`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }

  /// The requestor and box for an audit line: `acme, device 3f9a0c21d4e5b687 "Living room TV"`.
  var auditLabel: String { "\(requestor)\(report), \(deviceTitle)" }

  /// What the app reported when it asked for the code, in the form of ``AuthenticationRecord/report``.
  var report: String { PairingService.report(about, profile) }
}

extension AuthenticationRecord {
  /// The name of the signed-in box for operators: `device 3f9a0c21d4e5b687 "Living room TV"`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }
}

extension AuthenticationRecord {
  /// What the app reported, for an audit line: `, visitor "v-1", profile tv, data {"campaign":"spring"}`; empty when it
  /// reported nothing.
  var report: String { PairingService.report(about, authentication.profile) }
}

extension AppReport {
  /// What the app reported, for JSON documents; nil when it reported nothing.
  init?(_ about: DeviceDescription, _ profile: ProfileName?) {
    self.init(visitorID: about.visitorID, profile: profile?.text, data: about.data, options: about.options)
  }
}

/// What an app reported, for an audit line.
///
/// It stands before the box's name and in quotes, so that the app's text cannot be mistaken for the text after it.
private func report(_ about: DeviceDescription, _ profile: ProfileName?) -> String {
  // The text is limited, because the audit log holds many such lines.
  let longest = 512
  let facts = [
    about.visitorID.map { "visitor " + VisitorPseudonym.text($0) }, profile.map { "profile \($0)" },
    about.data.map { "data " + (CleanText.line($0, longest: longest) ?? "") },
    about.options.map { "options " + (CleanText.line($0, longest: longest) ?? "") },
  ]
  return facts.compactMap(\.self).map { ", \($0)" }.joined()
}

/// The name of a box for an audit line.
///
/// The part that the box chose itself stands last and in quotes, so that it cannot imitate another sentence of the log.
private func deviceTitle(_ device: DeviceHash, _ about: DeviceDescription) -> String {
  let name = about.name.flatMap { CleanText.line($0, longest: 64) }
  return "device \(device.shortName)" + (name.map { " \($0.quoted)" } ?? "")
}

extension String {
  /// The text in quotes, with quotes, backslashes and control characters escaped as in JSON.
  ///
  /// Use it in audit lines and findings for text that a box, a client or a person chose. Readers then cannot take it
  /// for a part of the sentence around it.
  var quoted: String { VisitorPseudonym.text(self) }

  /// The text without white space at its beginning and end.
  var withoutOuterSpaces: String {
    var rest = unicodeScalars[...]
    while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
