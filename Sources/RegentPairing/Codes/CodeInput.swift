extension RegistrationCode {
  /// Reads a code as people type it: in either case, with spaces, dashes or punctuation, or in full-width letters.
  public init(typed input: String) throws(CodeInputError) {
    // Limits the work for hostile input. A code in full-width letters with spaces has fewer than 50 bytes.
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

/// The reason why typed text is not a registration code.
///
/// A page shows a sentence for each case.
public enum CodeInputError: Error, Hashable, Sendable {
  case empty
  case tooFewLetters(Int)
  case tooManyLetters
  /// The text contains a character that is in no code: a vowel, a digit or `Y`.
  case neverInACode(Character)
}

extension CodeInputError: CustomStringConvertible {
  /// A sentence that tells the viewer what is wrong and what to type.
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
  /// The position of this letter in the code alphabet.
  ///
  /// Accepts ASCII and full-width letters of either case.
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

  /// Whether typing may contain this character: spaces, dashes, punctuation, and invisible characters that copying
  /// from a web page adds.
  fileprivate var isForgiven: Bool {
    switch value {
    // Characters that people type for a dash, although Unicode does not class them as punctuation: minus signs, and the
    // long-vowel marks that Japanese keyboards produce for a dash.
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
