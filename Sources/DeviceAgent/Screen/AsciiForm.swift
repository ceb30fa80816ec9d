import CommandKit

/// Converts text to ASCII without changing its width, for terminals whose locale is not UTF-8.
func asciiForm(of text: String) -> String {
  if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    if scalar.value < 0x80 {
      result.unicodeScalars.append(scalar)
    } else if let letter = bareLetters[scalar] {
      result.unicodeScalars.append(letter)
    } else {
      result += String(repeating: "?", count: displayWidth(String(scalar)))
    }
  }
  return result
}

/// The text without case and accents, for searching.
func searchForm(of text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    let bare = bareLetters[scalar] ?? scalar
    guard bare.properties.generalCategory != .nonspacingMark else { continue }
    result += bare.properties.lowercaseMapping
  }
  return result
}

/// Letters with diacritics and the same letters without, for the screen's languages and related ones; and punctuation
/// in ASCII.
private let bareLetters: [Unicode.Scalar: Unicode.Scalar] = {
  let groups: [(String, Unicode.Scalar)] = [
    ("ÀÁÂÃÄÅĀĂĄ", "A"), ("àáâãäåāăąª", "a"), ("ÇĆĈĊČ", "C"), ("çćĉċč", "c"), ("ĎĐ", "D"),
    ("ďđ", "d"), ("ÈÉÊËĒĔĖĘĚ", "E"), ("èéêëēĕėęě", "e"), ("ĜĞĠĢ", "G"), ("ĝğġģ", "g"),
    ("ĤĦ", "H"), ("ĥħ", "h"), ("ÌÍÎÏĨĪĬĮİ", "I"), ("ìíîïĩīĭįı", "i"), ("Ĵ", "J"), ("ĵ", "j"),
    ("Ķ", "K"), ("ķ", "k"), ("ĹĻĽĿŁ", "L"), ("ĺļľŀł", "l"), ("ÑŃŅŇ", "N"), ("ñńņň", "n"),
    ("ÒÓÔÕÖØŌŎŐ", "O"), ("òóôõöøōŏőº", "o"), ("ŔŖŘ", "R"), ("ŕŗř", "r"), ("ŚŜŞŠ", "S"),
    ("śŝşš", "s"), ("ŢŤŦ", "T"), ("ţťŧ", "t"), ("ÙÚÛÜŨŪŬŮŰŲ", "U"), ("ùúûüũūŭůűų", "u"),
    ("Ŵ", "W"), ("ŵ", "w"), ("ÝŶŸ", "Y"), ("ýÿŷ", "y"), ("ŹŻŽ", "Z"), ("źżž", "z"),
    ("‘’‚´", "'"), ("“”„«»", "\""), ("–—‐‑−", "-"), ("…·•", "."), ("¡", "!"), ("¿", "?"),
    ("↑", "^"), ("↓", "v"), ("→›▸", ">"), ("←‹", "<"), ("\u{a0}", " "), ("▏│", "|"), ("×", "x"),
    ("✓", "*"), ("█▓▒", "#"), ("░", "."),
  ]
  var table: [Unicode.Scalar: Unicode.Scalar] = [:]
  for (letters, bare) in groups { for letter in letters.unicodeScalars { table[letter] = bare } }
  return table
}()
