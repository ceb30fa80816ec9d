public import RegentPlatform

/// Facts about a terminal, read from its environment.
///
/// ``capabilities`` derives what it can display.
public struct TerminalFacts: Sendable, Equatable {
  /// The value of the environment variable `TERM`.
  public var type: String?
  /// The value of the environment variable `COLORTERM`.
  public var colourTerm: String?
  /// The locale in which text is displayed.
  public var locale: String?
  /// Facts from the kernel, if the terminal is a Linux virtual console.
  public var console: LinuxConsole?
  /// Whether the user set `NO_COLOR` (no-color.org).
  public var refusesColours: Bool

  public init(
    type: String?, colourTerm: String? = nil, locale: String? = nil, console: LinuxConsole? = nil,
    refusesColours: Bool = false
  ) {
    self.refusesColours = refusesColours
    self.type = type
    self.colourTerm = colourTerm
    self.locale = locale
    self.console = console
  }

  /// Reads the facts about the terminal of a descriptor.
  public init(of number: Int32, _ environment: Environment) {
    type = environment["TERM"]
    colourTerm = environment["COLORTERM"]
    locale = environment["LC_ALL"] ?? environment["LC_CTYPE"] ?? environment["LANG"]
    console = LinuxConsole(of: number)
    refusesColours = environment["NO_COLOR"]?.isEmpty == false
  }

  /// Whether the cursor can be positioned.
  ///
  /// Otherwise only lines can be printed.
  public var canBeDrawnOn: Bool {
    guard let type else { return console != nil }
    return type != "dumb" && type != "unknown"
  }

  public var capabilities: TerminalCapabilities {
    var capabilities = TerminalCapabilities(
      glyphs: .halfBlocks, depth: depth, isUnicode: isUnicode, hasHangul: isUnicode,
      hasTints: !refusesColours)
    if !isUnicode {
      capabilities.glyphs = .fullBlocks
    } else if let console {
      capabilities.hasHangul = console.has("가")
      // Default console fonts have the full block, but not the half blocks.
      if !(console.has("▀") && console.has("▄") && console.has("█")) {
        capabilities.glyphs = .fullBlocks
      }
    } else if type == "linux" {
      // The font of the console cannot be read, for example in a container.
      capabilities.glyphs = .fullBlocks
      capabilities.hasHangul = false
    }
    return capabilities
  }

  private var isUnicode: Bool {
    if let console, !console.isUnicode { return false }
    let locale = (locale ?? "").lowercased()
    return locale.contains("utf-8") || locale.contains("utf8")
  }

  private var depth: ColourDepth {
    if console != nil { return .eight }
    guard let type else { return .eight }
    if type.hasSuffix("-m") || type == "vt52" { return .none }
    let isRich =
      type.contains("256color") || type.contains("direct") || colourTerm != nil
      || ["kitty", "alacritty", "foot", "wezterm", "ghostty"].contains { type.contains($0) }
    return isRich ? .palette : .eight
  }
}
