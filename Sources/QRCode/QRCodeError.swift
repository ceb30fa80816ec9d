/// The reason why a text has no QR code.
public enum QRCodeError: Error, Equatable, Sendable, CustomStringConvertible {
  case emptyText
  /// The text does not fit the largest code at the requested error-correction level.
  case tooLong(bytes: Int, level: QRCode.Level)
  case outOfMemory

  public var description: String {
    switch self {
    case .emptyText: "there is no text to make a QR code of"
    case .tooLong(let bytes, let level):
      "a text of \(bytes) bytes does not fit a QR code at error-correction level \(level)"
    case .outOfMemory: "not enough memory to make a QR code"
    }
  }

  /// What the user can do about the error.
  public var hint: String {
    switch self {
    case .emptyText: "give it an address or another text"
    case .tooLong(_, .low): "shorten the text: 2,953 bytes is the most a QR code can hold"
    case .tooLong: "shorten the text, or ask for a lower error-correction level"
    case .outOfMemory: "close something and try again"
    }
  }
}
