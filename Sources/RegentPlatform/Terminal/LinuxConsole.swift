import CRegentLinux
import Glibc

/// The character set of one of the kernel's text consoles (not of a terminal window or a remote session).
public struct LinuxConsole: Equatable, Sendable {
  /// Whether the console decodes UTF-8.
  ///
  /// Otherwise each byte is one character.
  public let isUnicode: Bool
  /// The characters of the console's font, up to U+FFFF.
  public let characters: Set<UInt16>

  public init(isUnicode: Bool, characters: Set<UInt16>) {
    self.isUnicode = isUnicode
    self.characters = characters
  }

  /// Asks the kernel about the console behind a descriptor; nil when it is not a console.
  public init?(of number: CInt) {
    var mode: CInt = 0
    guard unsafe ioctl(number, UInt(KDGKBMODE), &mode) == 0 else { return nil }
    isUnicode = mode == K_UNICODE
    characters = LinuxConsole.fontCharacters(of: number)
  }

  public func has(_ character: Unicode.Scalar) -> Bool {
    UInt16(exactly: character.value).map(characters.contains) ?? false
  }

  /// The characters in the Unicode map of the console's font; empty if the kernel does not report it.
  private static func fontCharacters(of number: CInt) -> Set<UInt16> {
    // The kernel's own maps have some hundred entries. A larger map is read again with more space.
    var capacity = 1_024
    while capacity <= 65_535 {
      var pairs = [unipair](repeating: unipair(), count: capacity)
      var wanted = 0
      let code = unsafe pairs.withUnsafeMutableBufferPointer { buffer in
        var request = unsafe unimapdesc(
          entry_ct: UInt16(buffer.count), entries: buffer.baseAddress)
        let code = attempt { unsafe ioctl(number, UInt(GIO_UNIMAP), &request) }.code
        unsafe wanted = Int(request.entry_ct)
        return code
      }
      if code == 0 { return Set(pairs.prefix(wanted).map(\.unicode)) }
      guard code == ENOMEM else { return [] }
      capacity = max(capacity * 4, wanted)
    }
    return []
  }
}
