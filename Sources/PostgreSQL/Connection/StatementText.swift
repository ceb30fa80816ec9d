/// Replaces each `?` of a statement by PostgreSQL's `$1`, `$2` and so on, or by `letters` and the number.
///
/// Leaves `?` in strings, quoted names and comments as it is.
package func numbered(_ sql: String, as letters: String = "$") -> String {
  var text = String.UnicodeScalarView()
  var number = 0
  var closing: Unicode.Scalar?
  var before: Unicode.Scalar = " "
  for scalar in sql.unicodeScalars {
    defer { before = scalar }
    if let end = closing {
      if scalar == end { closing = nil }
      text.append(scalar)
      continue
    }
    switch scalar {
    case "'", "\"": closing = scalar
    case "-" where before == "-": closing = "\n"
    case "?":
      number += 1
      text.append(contentsOf: "\(letters)\(number)".unicodeScalars)
      continue
    default: break
    }
    text.append(scalar)
  }
  return String(text)
}
