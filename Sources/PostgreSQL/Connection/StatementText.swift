/// Numbers the `?` of a statement as PostgreSQL wants them: `$1`, `$2` and so on.
///
/// Not those inside of texts, names and comments.
func numbered(_ sql: String) -> String {
  var text = ""
  text.reserveCapacity(sql.utf8.count + 16)
  var number = 0
  var closing: Character?
  var before: Character = " "
  for character in sql {
    defer { before = character }
    if let end = closing {
      if character == end { closing = nil }
      text.append(character)
      continue
    }
    switch character {
    case "'", "\"": closing = character
    case "-" where before == "-": closing = "\n"
    case "?":
      number += 1
      text += "$\(number)"
      continue
    default: break
    }
    text.append(character)
  }
  return text
}
