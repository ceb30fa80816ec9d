/// The code that a person types into a new box: four letters identify the invitation, twelve are secret.
///
/// The letters are of Crockford's base-32 alphabet: digits and letters without I, L, O and U. I and L are read as 1,
/// O as 0. Twelve letters are 60 bits.
public struct EnrolmentCode: Hashable, Sendable {
  public static let alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
  /// The number of letters at the start of an enrolment code that identify the invitation.
  public static let idLength = 4
  /// The number of secret letters at the end of an enrolment code.
  public static let secretLength = 12
  private static let group = 4

  public let id: EnrolmentID
  /// The secret letters.
  ///
  /// The box never sends them.
  public let secret: String

  /// A code of randomly drawn letters; nil if the number of letters is wrong or a letter is not in the alphabet.
  public init?(letters: String) {
    let letters = Array(letters.utf8)
    guard letters.count == Self.idLength + Self.secretLength,
      letters.allSatisfy({ Self.alphabet.utf8.contains($0) }),
      let id = EnrolmentID(String(decoding: letters.prefix(Self.idLength), as: UTF8.self))
    else { return nil }
    self.id = id
    secret = String(decoding: letters.dropFirst(Self.idLength), as: UTF8.self)
  }

  /// Reads a code as people type it: in either case, with spaces and dashes, O for 0, and I or L for 1.
  public init?(typed text: String) {
    guard text.utf8.count <= 128 else { return nil }
    var letters = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case " ", "-", "\t", "\u{2013}", "\u{2014}": continue
      case "o", "O": letters += "0"
      case "i", "I", "l", "L": letters += "1"
      case "a"..."z", "A"..."Z", "0"..."9": letters += String(scalar).uppercased()
      default: return nil
      }
    }
    self.init(letters: letters)
  }

  /// The enrolment code as people read it: `XXXX-XXXX-XXXX-XXXX`.
  public var display: String {
    let letters = Array((id.text + secret).utf8)
    return stride(from: 0, to: letters.count, by: Self.group).map { start in
      String(decoding: letters[start..<min(start + Self.group, letters.count)], as: UTF8.self)
    }.joined(separator: "-")
  }
}
