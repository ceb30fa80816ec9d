// The language of the templates. One of these is between `{{` and `}}`:
//
//   name  name.inner            a field of the view model, escaped for its HTML context
//   t key  t key arg=field      a text in the page's language; `[field]` inside a key is replaced by the field's case
//   asset name.css              the address of a static file
//   iso field                   a time in ISO 8601
//   #if field  #if !field  else  /if      #each list  /each      #with record  else  /with
//   > file.html                 includes another template
//   layout file.html            (at the start) inserts this page into the layout, at the layout's {{content}}
//   #block name  /block         (in a page) content for the layout's {{slot name}}
//   ! anything                  a comment

indirect enum TemplateNode: Sendable {
  case literal([UInt8], line: Int)
  case insert(String, line: Int)
  case text(key: String, arguments: [(name: String, field: String)], line: Int)
  case asset(String, line: Int)
  case iso(String, line: Int)
  case branch(String, negated: Bool, [TemplateNode], [TemplateNode], line: Int)
  case each(String, [TemplateNode], line: Int)
  case with(String, [TemplateNode], [TemplateNode], line: Int)
  case include(String, line: Int)
  case slot(String, line: Int)
}

struct ParsedTemplate: Sendable {
  var layout: String?
  var content: [TemplateNode] = []
  var blocks: [String: [TemplateNode]] = [:]
}

/// Parses one template file; errors name the line.
struct TemplateParser {
  private let file: String
  private let bytes: [UInt8]
  private var at = 0
  private var line = 1
  private var result = ParsedTemplate()

  static func parse(_ file: String, _ bytes: [UInt8]) throws(WebFileError) -> ParsedTemplate {
    var parser = TemplateParser(file: file, bytes: bytes)
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw WebFileError(file, "the file is not UTF-8")
    }
    let (nodes, end) = try parser.nodes()
    if let end { throw parser.problem("there is no \(end.word) to end or to continue here") }
    parser.result.content = nodes
    return parser.result
  }

  private init(file: String, bytes: [UInt8]) {
    self.file = file
    self.bytes = bytes
  }

  /// The tag that ends a list of nodes, such as `else` or `/if`.
  private struct End {
    let word: String
    let line: Int
  }

  private mutating func nodes() throws(WebFileError) -> ([TemplateNode], End?) {
    var nodes: [TemplateNode] = []
    while at < bytes.count {
      let start = at
      let startLine = line
      while at < bytes.count, !isTagStart(at) {
        if bytes[at] == UInt8(ascii: "\n") { line += 1 }
        at += 1
      }
      if at > start { nodes.append(.literal(Array(bytes[start..<at]), line: startLine)) }
      guard at < bytes.count else { break }
      let tagLine = line
      let words = try tag()
      if let end = try node(words, line: tagLine, into: &nodes) { return (nodes, end) }
    }
    return (nodes, nil)
  }

  private func isTagStart(_ place: Int) -> Bool {
    bytes[place] == UInt8(ascii: "{") && place + 1 < bytes.count
      && bytes[place + 1] == UInt8(ascii: "{")
  }

  /// Reads the words of a tag, between `{{` and `}}`.
  private mutating func tag() throws(WebFileError) -> [String] {
    at += 2
    let start = at
    while at + 1 < bytes.count {
      if bytes[at] == UInt8(ascii: "}"), bytes[at + 1] == UInt8(ascii: "}") {
        let words = bytes[start..<at].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        line += bytes[start..<at].count { $0 == UInt8(ascii: "\n") }
        at += 2
        return words.map { String(decoding: $0, as: UTF8.self) }
      }
      at += 1
    }
    throw problem("{{ without }}")
  }

  private mutating func node(
    _ words: [String], line: Int, into nodes: inout [TemplateNode]
  ) throws(WebFileError) -> End? {
    guard let first = words.first else { throw problem("there is nothing between {{ and }}") }
    if first.hasPrefix("!") { return nil }
    switch (first, words.count) {
    case ("else", 1), ("/if", 1), ("/each", 1), ("/with", 1), ("/block", 1):
      return End(word: first, line: line)
    case ("#if", 2):
      let negated = words[1].hasPrefix("!")
      let (then, otherwise) = try branches(of: "if", line: line)
      let field = negated ? String(words[1].dropFirst()) : words[1]
      nodes.append(.branch(field, negated: negated, then, otherwise, line: line))
    case ("#with", 2):
      let (then, otherwise) = try branches(of: "with", line: line)
      nodes.append(.with(words[1], then, otherwise, line: line))
    case ("#each", 2):
      nodes.append(.each(words[1], try body(of: "each", line: line), line: line))
    case ("#block", 2):
      guard result.blocks[words[1]] == nil else { throw problem("a second block \(words[1])") }
      result.blocks[words[1]] = try body(of: "block", line: line)
    case ("layout", 2):
      guard result.layout == nil else { throw problem("a second layout") }
      result.layout = words[1]
    case (">", 2): nodes.append(.include(words[1], line: line))
    case ("slot", 2): nodes.append(.slot(words[1], line: line))
    case ("content", 1): nodes.append(.slot("content", line: line))
    case ("asset", 2): nodes.append(.asset(words[1], line: line))
    case ("iso", 2): nodes.append(.iso(words[1], line: line))
    case ("t", 2...):
      let arguments = try words.dropFirst(2).map { word throws(WebFileError) in
        try argument(word)
      }
      nodes.append(.text(key: words[1], arguments: arguments, line: line))
    case (_, 1): nodes.append(.insert(first, line: line))
    default: throw problem("{{\(words.joined(separator: " "))}} is not understood")
    }
    return nil
  }

  private func argument(_ word: String) throws(WebFileError) -> (name: String, field: String) {
    let parts = word.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw problem("write an argument as name=field, not \(word)")
    }
    return (String(parts[0]), String(parts[1]))
  }

  private mutating func branches(
    of word: String, line: Int
  ) throws(WebFileError) -> ([TemplateNode], [TemplateNode]) {
    let (then, end) = try nodes()
    if let end, end.word == "else" {
      return (then, try body(of: word, line: line))
    }
    try check(end, ends: word, line: line)
    return (then, [])
  }

  private mutating func body(of word: String, line: Int) throws(WebFileError) -> [TemplateNode] {
    let (nodes, end) = try nodes()
    try check(end, ends: word, line: line)
    return nodes
  }

  private func check(_ end: End?, ends word: String, line: Int) throws(WebFileError) {
    guard let end else { throw WebFileError(file, line: line, "#\(word) without /\(word)") }
    guard end.word == "/\(word)" else {
      throw WebFileError(file, line: end.line, "\(end.word) is where /\(word) for line \(line) is expected")
    }
  }

  private func problem(_ text: String) -> WebFileError {
    WebFileError(file, line: line, text)
  }
}
