import CommandKit

/// A font of three to five by five dots for a host name or an IP address with a port, in capital letters.
enum AddressFont {
  static let height = 5

  /// The dots of an address in lines of at most this width; nil if it does not fit into two lines.
  ///
  /// Also nil for an address with a path, in which capital letters may mean another page.
  static func lines(of address: String, width: Int) -> [DotText]? {
    var lines: [[Character]] = [[]]
    for character in address.uppercased() {
      guard glyphs[character] != nil else { return nil }
      lines[lines.count - 1].append(character)
      if text(lines[lines.count - 1]).width > width {
        // A line ends after a dot, a colon or a hyphen, where a reader expects a break.
        guard let end = lines[lines.count - 1].dropLast().lastIndex(where: { ".:-".contains($0) }) else { return nil }
        let rest = Array(lines[lines.count - 1][(end + 1)...])
        lines[lines.count - 1].removeSubrange((end + 1)...)
        lines.append(rest)
      }
    }
    return lines.count <= 2 ? lines.map(text) : nil
  }

  private static func text(_ characters: [Character]) -> DotText {
    var rows = [[Bool]](repeating: [], count: height)
    for character in characters {
      for (row, dots) in (glyphs[character] ?? []).enumerated() {
        if !rows[row].isEmpty { rows[row].append(false) }
        rows[row] += dots.map { $0 == "#" }
      }
    }
    return DotText(rows: rows)
  }

  /// The five rows of each character.
  private static let glyphs: [Character: [String]] = drawings.reduce(into: [:]) { glyphs, drawing in
    let rows = drawing.rows.split(separator: "\n").map(String.init)
    var places = rows.map { $0[...] }
    for character in drawing.characters {
      // The drawings of a line are separated by spaces.
      glyphs[character] = places.indices.map { row in
        let glyph = places[row].prefix { $0 != " " }
        places[row] = places[row].dropFirst(glyph.count + 1)
        return String(glyph)
      }
    }
  }

  private static let drawings = [
    (
      characters: "ABCDEFGHIJKLM",
      rows: """
      .#. ##. .## ##. ### ### .## #.# ### ..# #.# #.. #...#
      #.# #.# #.. #.# #.. #.. #.. #.# .#. ..# #.# #.. ##.##
      ### ##. #.. #.# ##. ##. #.# ### .#. ..# ##. #.. #.#.#
      #.# #.# #.. #.# #.. #.. #.# #.# .#. #.# #.# #.. #...#
      #.# ##. .## ##. ### #.. .## #.# ### .#. #.# ### #...#
      """
    ),
    (
      characters: "NOPQRSTUVWXYZ",
      rows: """
      #..# .##. ##. .##. ##. .## ### #.# #.# #...# #.# #.# ###
      ##.# #..# #.# #..# #.# #.. .#. #.# #.# #...# #.# #.# ..#
      #.## #..# ##. #..# ##. .#. .#. #.# #.# #.#.# .#. .#. .#.
      #..# #..# #.. #.## #.# ..# .#. #.# #.# ##.## #.# .#. #..
      #..# .##. #.. .### #.# ##. .#. ### .#. #...# #.# .#. ###
      """
    ),
    (
      characters: "0123456789.:-[]",
      rows: """
      ### .#. ### ### #.# ### ### ### ### ### . . ... ## ##
      #.# ##. ..# ..# #.# #.. #.. ..# #.# #.# . # ... #. .#
      #.# .#. ### .## ### ### ### ..# ### ### . . ### #. .#
      #.# .#. #.. ..# ..# ..# #.# .#. #.# ..# . # ... #. .#
      ### ### ### ### ..# ### ### .#. ### ### # . ... ## ##
      """
    ),
  ]
}
