/// Skips the extensions of one chunk (RFC 9112 section 7.1.1) byte by byte, and refuses those that break the grammar.
///
///     *( BWS ";" BWS name [ BWS "=" BWS value ] ),  a value is a token or a quoted string
///
/// The contents are ignored. Attackers smuggle requests with chunks whose line end two parsers see in different places.
/// Therefore the parser refuses everything that could be read in two ways: a line end inside quotes, an empty name, and
/// white space before the line end.
struct ChunkExtension {
  private var state = ChunkExtensionState.start

  private enum ChunkExtensionState: UInt8 {
    /// The parser is after the chunk's size, before a semicolon.
    case start
    /// The parser is after a semicolon, before the name of an extension.
    case beforeName
    case name
    /// The parser is after white space that follows a name. `=` or `;` must follow.
    case afterName
    case beforeValue
    case token
    case quoted, escaped
    /// The parser is after a value. Only the line end, white space or a semicolon may follow.
    case afterValue
    /// The parser is after white space that follows a value. A semicolon must follow.
    case beforeSemicolon
  }

  /// Takes the next byte after the chunk's size.
  ///
  /// Returns true at the CR that ends the line.
  mutating func endsLine(at byte: UInt8) throws(MessageError) -> Bool {
    switch state {
    case .start, .beforeSemicolon:
      try follow(byte, semicolon: true, blank: state)
    case .beforeName:
      if byte.isToken { state = .name } else { try follow(byte, blank: .beforeName) }
    case .name:
      if byte == 0x0D { return true }
      if !byte.isToken { try follow(byte, semicolon: true, equals: true, blank: .afterName) }
    case .afterName:
      try follow(byte, semicolon: true, equals: true, blank: .afterName)
    case .beforeValue:
      if byte == 0x22 {
        state = .quoted
      } else if byte.isToken {
        state = .token
      } else {
        try follow(byte, blank: .beforeValue)
      }
    case .token:
      if byte == 0x0D { return true }
      if !byte.isToken { try follow(byte, semicolon: true, blank: .beforeSemicolon) }
    case .quoted:
      guard byte.isFieldValue else { throw .chunkExtension }
      if byte == 0x22 { state = .afterValue }
      if byte == 0x5C { state = .escaped }
    case .escaped:
      guard byte.isFieldValue else { throw .chunkExtension }
      state = .quoted
    case .afterValue:
      if byte == 0x0D { return true }
      try follow(byte, semicolon: true, blank: .beforeSemicolon)
    }
    return false
  }

  /// Moves on to the parser's next state after one of the separators that are allowed here.
  private mutating func follow(
    _ byte: UInt8, semicolon: Bool = false, equals: Bool = false, blank: ChunkExtensionState
  ) throws(MessageError) {
    switch byte {
    case 0x3B where semicolon: state = .beforeName
    case 0x3D where equals: state = .beforeValue
    case 0x20, 0x09: state = blank
    default: throw .chunkExtension
    }
  }
}
