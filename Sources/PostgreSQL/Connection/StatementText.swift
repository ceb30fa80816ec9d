/// Numbers the `?` of a statement as PostgreSQL wants them, `$1`, `$2` and so on, or as names with these letters before
/// the number.
///
/// Not those inside of texts, names and comments.
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
