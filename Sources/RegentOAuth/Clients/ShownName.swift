internal import RegentPairing

/// Names that strangers chose and people read: on a phone, in a log, on a terminal.
enum ShownName {
  /// Whether a text has nothing that steers a terminal, turns the direction of writing or hides.
  static func isFit(_ text: String) -> Bool { Names.Device.allowsAll(of: text) }

  /// Whether somebody who reads it sees a name: without one the page that asks for a yes does not say who asks.
  static func isName(_ text: String) -> Bool { isFit(text) && VisibleText.isSeen(text) }
}
