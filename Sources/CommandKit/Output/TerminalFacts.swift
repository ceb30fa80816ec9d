public import RegentPlatform

/// Facts about a terminal, collected at the edge; what follows from them is decided here.
public struct TerminalFacts: Sendable, Equatable {
  /// `TERM`.
  public var type: String?
  /// `COLORTERM`.
  public var colourTerm: String?
  /// The locale of what is shown.
  public var locale: String?
  /// What the kernel says, when it is the kernel's own console.
  public var console: LinuxConsole?
  /// The viewer set `NO_COLOR` (no-color.org).
  public var refusesColours: Bool

  /// Facts that are known.
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

  /// The facts about the terminal behind a descriptor.
  public init(of number: Int32, _ environment: Environment) {
    type = environment["TERM"]
    colourTerm = environment["COLORTERM"]
    locale = environment["LC_ALL"] ?? environment["LC_CTYPE"] ?? environment["LANG"]
    console = LinuxConsole(of: number)
    refusesColours = environment["NO_COLOR"]?.isEmpty == false
  }

  /// Whether the cursor can be sent anywhere: without that only lines can be written.
  public var canBeDrawnOn: Bool {
    guard let type else { return console != nil }
    return type != "dumb" && type != "unknown"
  }

  /// What the terminal can show.
  public var capabilities: TerminalCapabilities {
    var capabilities = TerminalCapabilities(
      glyphs: .halfBlocks, depth: depth, isUnicode: isUnicode, hasHangul: isUnicode,
      hasTints: !refusesColours)
    if !isUnicode {
      capabilities.glyphs = .fullBlocks
    } else if let console {
      capabilities.hasHangul = console.has("가")
      // Default console fonts have the full block and not its halves.
      if !(console.has("▀") && console.has("▄") && console.has("█")) {
        capabilities.glyphs = .fullBlocks
      }
    } else if type == "linux" {
      // A console whose font cannot be asked about: a container, or a connection from one.
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
