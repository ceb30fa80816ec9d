extension RegistrationCode {
  /// Reads a code the way people type it: any case, spaces, any dash or punctuation, full-width letters.
  public init(typed input: String) throws(CodeInputError) {
    // Bounds the work before anything is looked at; a code in full-width letters with spaces has under 50 bytes.
    guard input.utf8.count <= 128 else { throw .tooManyLetters }
    var ordinal: UInt64 = 0
    var letters = 0
    for scalar in input.unicodeScalars {
      guard let digit = scalar.codeDigit else {
        guard scalar.isForgiven else { throw .neverInACode(Character(scalar)) }
        continue
      }
      letters += 1
      guard letters <= Self.length else { throw .tooManyLetters }
      ordinal = ordinal * 20 + UInt64(digit)
    }
    guard letters > 0 else { throw .empty }
    guard letters == Self.length else { throw .tooFewLetters(letters) }
    self.ordinal = ordinal
  }
}

/// Why typed text is no registration code, in a form that a page can turn into a helpful sentence.
public enum CodeInputError: Error, Hashable, Sendable {
  /// Nothing was typed.
  case empty
  /// Fewer letters than a code has.
  case tooFewLetters(Int)
  /// More letters than a code has.
  case tooManyLetters
  /// A character that no code ever contains (a vowel, a digit, `Y`).
  case neverInACode(Character)
}

extension CodeInputError: CustomStringConvertible {
  /// What is wrong and what to type instead.
  public var description: String {
    switch self {
    case .empty: "no code was typed; it is shown on the screen, eight letters"
    case .tooFewLetters(let count): "a code has eight letters, this has \(count)"
    case .tooManyLetters: "a code has eight letters, this has more"
    case .neverInACode: "codes have no vowels, no digits and no Y; compare with the screen"
    }
  }
}

extension Unicode.Scalar {
  /// The place in the alphabet of an ASCII or full-width letter of either case.
  fileprivate var codeDigit: Int? {
    let ascii: UInt32
    switch value {
    case 0x41...0x5A: ascii = value
    case 0x61...0x7A: ascii = value - 0x20
    case 0xFF21...0xFF3A: ascii = value - 0xFF21 + 0x41
    case 0xFF41...0xFF5A: ascii = value - 0xFF41 + 0x41
    default: return nil
    }
    let place = RegistrationCode.places[Int(ascii - 0x41)]
    return place >= 0 ? place : nil
  }

  /// Spaces, dashes, punctuation and the invisible characters that copying from a page brings along.
  fileprivate var isForgiven: Bool {
    switch value {
    // The minus signs and the long-vowel mark, which Japanese keyboards give for a dash, are no punctuation.
    case 0x2212, 0x30FC, 0xFF70, 0x02D7, 0x00AD: return true
    case 0x09, 0x0A, 0x0D, 0x20: return true
    default: break
    }
    switch properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator, .format: return true
    case .dashPunctuation, .connectorPunctuation, .otherPunctuation: return true
    default: return false
    }
  }
}
