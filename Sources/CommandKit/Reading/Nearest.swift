/// The most similar word, if it is similar enough to propose.
public func nearest(to text: String, among words: [String]) -> String? {
  let typed = Array(text.lowercased().unicodeScalars.prefix(64))
  // At most one mistake in three characters is accepted. More would be a guess.
  let limit = max(1, typed.count / 3)
  var best: (word: String, distance: Int)?
  for word in words {
    let distance = editDistance(typed, Array(word.lowercased().unicodeScalars))
    if distance <= limit, distance < best?.distance ?? .max { best = (word, distance) }
  }
  if let best { return best.word }
  // "require" is far from "requestor" by edit distance, but has the same beginning.
  let beginning = words.filter {
    typed.count >= 3 && $0.lowercased().unicodeScalars.starts(with: typed)
  }
  return beginning.count == 1 ? beginning[0] : nil
}

/// The number of insertions, deletions, replacements and swaps of adjacent characters between the two texts.
func editDistance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...other.count)
  for (row, letter) in one.enumerated() {
    var current = [row + 1]
    for (column, candidate) in other.enumerated() {
      let isSame = letter == candidate
      var distance = min(
        last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
      if row > 0, column > 0, letter == other[column - 1], one[row - 1] == candidate {
        distance = min(distance, beforeLast[column - 1] + 1)
      }
      current.append(distance)
    }
    (beforeLast, last) = (last, current)
  }
  return last[other.count]
}
