internal import RegentPairing

/// Checks names that a client chooses and that a phone, a log or a terminal displays.
enum ShownName {
  /// Whether a text has no control characters, no bidirectional overrides and no hidden characters.
  static func isFit(_ text: String) -> Bool { Names.Device.allowsAll(of: text) }

  /// Whether the text has a visible character, and no hidden ones.
  ///
  /// Without a visible name, the approval page would not say which client asks.
  static func isName(_ text: String) -> Bool { isFit(text) && VisibleText.isSeen(text) }
}
