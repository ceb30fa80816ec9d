internal import RegentCryptography
internal import Administration
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
  /// Which box it is for: `device 3f9a0c21d4e5b687 "Living room TV"`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }

  /// The same with the requestor: `acme, device 3f9a0c21d4e5b687 "Living room TV"`.
  var auditLabel: String { "\(requestor)\(report), \(deviceTitle)" }

  /// What its app said besides, as ``AuthenticationRecord/report``.
  var report: String { PairingService.report(about, profile) }
}

extension AuthenticationRecord {
  /// Which box it is: `device 3f9a0c21d4e5b687 "Living room TV"`.
  var deviceTitle: String { PairingService.deviceTitle(deviceHash, about) }
}

extension AuthenticationRecord {
  /// What its app said besides: `, visitor "v-1", profile tv, data {"campaign":"spring"}`; nothing when it said
  /// nothing.
  var report: String { PairingService.report(about, authentication.profile) }
}

extension AppReport {
  /// The same as a document.
  init?(_ about: DeviceDescription, _ profile: ProfileName?) {
    self.init(visitorID: about.visitorID, profile: profile?.text, data: about.data, options: about.options)
  }
}

/// Before the box's name, and in quotes: what an app says cannot be taken for what comes after it.
private func report(_ about: DeviceDescription, _ profile: ProfileName?) -> String {
  // Of a line of the audit log there are many.
  let longest = 512
  let facts = [
    about.visitorID.map { "visitor " + VisitorMark.text($0) }, profile.map { "profile \($0)" },
    about.data.map { "data " + (CleanText.line($0, longest: longest) ?? "") },
    about.options.map { "options " + (CleanText.line($0, longest: longest) ?? "") },
  ]
  return facts.compactMap(\.self).map { ", \($0)" }.joined()
}

/// The name that the box chose comes last and in quotes, so that it cannot end the sentence and begin another.
private func deviceTitle(_ device: DeviceHash, _ about: DeviceDescription) -> String {
  let name = about.name.flatMap { CleanText.line($0, longest: 64) }
  return "device \(device.shortName)" + (name.map { " \($0.quoted)" } ?? "")
}

extension String {
  /// Text that a box, a client or a person chose, for audit lines and findings: in quotes, with quotes, backslashes and
  /// control characters escaped as in JSON, so that it cannot be read as a part of the sentence around it.
  var quoted: String { VisitorMark.text(self) }

  /// Without white space at its beginning and end.
  var withoutOuterSpaces: String {
    var rest = unicodeScalars[...]
    while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
