import Testing

@Suite("Comments are worth reading")
struct CommentTests {
  private static let rightMargin = 120

  @Test func `names of tests are what the results can say in XML`() throws {
    for file in try swiftFiles(below: "Tests") {
      for (number, line) in file.lines.enumerated() {
        let words = line.drop { $0 == " " }
        guard words.hasPrefix("func `") || words.hasPrefix("@Test func `") else { continue }
        let name = line.split(separator: "`").dropFirst().first ?? ""
        // The toolchain writes them as they are into an attribute.
        let isPlain = name.allSatisfy { !"\"<>&".contains($0) }
        #expect(isPlain, "\(file.path):\(number + 1)")
      }
    }
  }

  @Test(arguments: ["Sources", "Tests"])
  func `no comment goes beyond the right margin`(top: String) throws {
    for file in try swiftFiles(below: top) {
      for (number, line) in file.lines.enumerated() where line.count > Self.rightMargin {
        // Long lines of code are swift format's business: it lets literals stand.
        let isComment = line.drop { $0 == " " }.hasPrefix("//")
        #expect(!isComment, "\(file.path):\(number + 1) has \(line.count) characters")
      }
    }
  }

  @Test func `no doc comment only repeats the name`() throws {
    for file in try swiftFiles(below: "Sources") {
      for (number, comment) in file.loneDocComments {
        guard let declaration = file.declaration(after: number) else { continue }
        let known = words(declaration + " " + file.enclosingType(of: number))
        let said = words(comment).subtracting(smallWords)
        #expect(
          !said.isSubset(of: known),
          "\(file.path):\(number + 1): \"\(comment)\" says what \"\(declaration)\" says already")
      }
    }
  }

  @Test func `public types, protocols and functions say what they are for`() throws {
    let files = try swiftFiles(below: "Sources")
    // Whoever does what a protocol asks for need not say again what the protocol says.
    let required = Set(files.flatMap(\.requirements)).union(["encode", "hash"])
    for file in files {
      for (number, line) in file.lines.enumerated() {
        let tokens = line.split(separator: " ").map(String.init)
        guard let public_ = tokens.firstIndex(of: "public"),
          tokens[..<public_].allSatisfy({ $0.hasPrefix("@") }), !tokens.contains("override"),
          let keyword = tokens[public_...].first(where: { !modifiers.contains($0) }), described.contains(keyword)
        else { continue }
        let name = tokens.drop { $0 != "func" }.dropFirst().first?.prefix { $0 != "(" && $0 != "<" } ?? ""
        guard !required.contains(String(name)) else { continue }
        // Attributes may stand between the comment and the declaration.
        let above = file.lines[..<number].reversed().prefix(8).prefix { !$0.isEmpty && !$0.hasSuffix("}") }
        #expect(
          above.contains { $0.drop { $0 == " " }.hasPrefix("///") }, "\(file.path):\(number + 1) has no doc comment")
      }
    }
  }

  @Test func `the reader of comments sees what it should`() {
    let text = """
      /// A box.
      struct Box {
        /// The color of the box.
        let color: Color
        /// Grey while nobody is signed in.
        let shade: Color
        /// Two lines
        /// are no repetition.
        let lines: Int
      }
      """
    let file = SourceFile(path: "x.swift", target: "x", lines: text.split(separator: "\n"))
    #expect(file.loneDocComments.map(\.line) == [0, 2, 4])
    #expect(file.declaration(after: 0) == nil)
    #expect(file.declaration(after: 2) == "color: Color")
    #expect(file.enclosingType(of: 2) == "Box")
    #expect(words("The color of the boxes, XMLName").subtracting(smallWords) == ["color", "boxe", "xml", "name"])
  }
}

private let smallWords: Set<String> = [
  "the", "a", "an", "of", "its", "it", "is", "this", "that", "to", "and", "in", "for", "which", "how", "what", "who",
  "whether", "when", "with", "on", "as", "by", "be", "are", "one",
]
private let modifiers: Set<String> = [
  "public", "package", "static", "final", "nonisolated", "mutating", "indirect", "unsafe", "class", "consuming",
  "borrowing",
]
private let described: Set<String> = ["struct", "class", "enum", "actor", "protocol", "func"]
private let memberModifiers: Set<String> = [
  "public", "package", "internal", "fileprivate", "private", "private(set)", "static", "final", "nonisolated", "weak",
  "lazy", "unsafe", "convenience", "required",
]

/// The words of a text or of a name in camel case, in small letters and without the s of a plural.
private func words(_ text: String) -> Set<String> {
  var found: Set<String> = []
  var word = ""
  let letters = Array(text)
  func end() {
    guard !word.isEmpty else { return }
    let small = word.lowercased()
    found.insert(small.count > 3 && small.hasSuffix("s") ? String(small.dropLast()) : small)
    word = ""
  }
  for (index, letter) in letters.enumerated() {
    guard letter.isLetter, letter.isASCII else {
      end()
      continue
    }
    let next = index + 1 < letters.count ? letters[index + 1] : " "
    let endsRun = word.last?.isUppercase == true && next.isLowercase
    if letter.isUppercase, word.last?.isLowercase == true || endsRun { end() }
    word.append(letter)
  }
  end()
  return found
}

extension SourceFile {
  /// The names of the functions that protocols of this file ask for.
  fileprivate var requirements: [String] {
    var isProtocol = false
    return codeLines.compactMap { line in
      if line == "}" { isProtocol = false }
      let tokens = line.split(separator: " ")
      if tokens.contains("protocol"), line.hasSuffix("{") { isProtocol = true }
      guard isProtocol, let place = tokens.firstIndex(of: "func"), place + 1 < tokens.count else { return nil }
      return String(tokens[place + 1].prefix { $0 != "(" && $0 != "<" })
    }
  }

  /// Doc comments of one line, with the number of the line.
  fileprivate var loneDocComments: [(line: Int, text: String)] {
    let trimmed = lines.map { $0.drop { $0 == " " } }
    return trimmed.indices.compactMap { index in
      guard trimmed[index].hasPrefix("/// "), index == 0 || !trimmed[index - 1].hasPrefix("///"),
        index + 1 == trimmed.count || !trimmed[index + 1].hasPrefix("///")
      else { return nil }
      return (index, String(trimmed[index].dropFirst(4)))
    }
  }

  /// The property or initialiser below a comment, without its value and body; nil when something else stands there.
  fileprivate func declaration(after number: Int) -> String? {
    let below = lines[(number + 1)...].drop { $0.drop { $0 == " " }.hasPrefix("@") }
    guard let line = below.first else { return nil }
    let tokens = line.split(separator: " ").map(String.init)
    guard let keyword = tokens.first(where: { !memberModifiers.contains($0) }),
      ["let", "var", "init"].contains(where: { keyword == $0 || keyword.hasPrefix("\($0)(") })
    else { return nil }
    var text = tokens.drop { memberModifiers.contains($0) || $0 == "let" || $0 == "var" }.joined(separator: " ")
    for end in [" = ", "{"] {
      if let place = text.firstRange(of: end) { text = String(text[..<place.lowerBound]) }
    }
    return text
  }

  /// The name of the type around a line.
  fileprivate func enclosingType(of number: Int) -> String {
    let indentation = lines[number].prefix { $0 == " " }.count
    for line in lines[..<number].reversed() where !line.isEmpty && line.prefix(while: { $0 == " " }).count < indentation
    {
      let tokens = line.split(separator: " ").map(String.init)
      let keywords: Set = ["struct", "class", "enum", "actor", "extension", "protocol"]
      guard let place = tokens.firstIndex(where: { keywords.contains($0) }), place + 1 < tokens.count else { continue }
      return String(tokens[place + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" })
    }
    return ""
  }
}
