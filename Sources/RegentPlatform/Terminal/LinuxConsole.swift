import CRegentLinux
import Glibc

/// What a text console of the kernel (not a window, not a connection) can show.
public struct LinuxConsole: Equatable, Sendable {
  /// Whether bytes are read as UTF-8; otherwise each byte is a character of its own.
  public let isUnicode: Bool
  /// The characters that the font has, of the first 65,536.
  public let characters: Set<UInt16>

  public init(isUnicode: Bool, characters: Set<UInt16>) {
    self.isUnicode = isUnicode
    self.characters = characters
  }

  /// Asks the kernel about the console behind a descriptor; `nil` when it is none.
  ///
  /// - Parameter number: an open descriptor.
  public init?(of number: CInt) {
    var mode: CInt = 0
    guard unsafe ioctl(number, UInt(KDGKBMODE), &mode) == 0 else { return nil }
    isUnicode = mode == K_UNICODE
    characters = LinuxConsole.fontCharacters(of: number)
  }

  /// Whether the font has a character.
  public func has(_ character: Unicode.Scalar) -> Bool {
    UInt16(exactly: character.value).map(characters.contains) ?? false
  }

  /// The Unicode map of the font; empty when the kernel does not tell.
  private static func fontCharacters(of number: CInt) -> Set<UInt16> {
    // The kernel's own maps have some hundred entries; a map that grows meanwhile is asked for again.
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
