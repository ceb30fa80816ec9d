/// Compiles parsed templates to instructions.
///
/// At the service's start it also checks what does not depend on values: that each field, text and file exists, and
/// that each placeholder stands where escaping protects its value.
struct TemplateCompiler {
  private let templates: [String: ParsedTemplate]
  let texts: TextCatalog
  private let files: StaticFiles
  private let base: String
  /// The keys of texts that compiled pages use.
  ///
  /// All other keys are reported as unused.
  var usedKeys: Set<String> = []

  /// Parses every template of the folder.
  ///
  /// `base` is the path of the public address. It is put before this service's own addresses, see `PhonePages`.
  init(_ web: WebFiles, texts: TextCatalog, files: StaticFiles, base: String = "")
    throws(WebFileError)
  {
    var templates: [String: ParsedTemplate] = [:]
    for (name, bytes) in web.inside("templates", suffix: ".html") {
      templates[name] = try TemplateParser.parse("templates/\(name)", bytes)
    }
    self.templates = templates
    self.texts = texts
    self.files = files
    self.base = base
  }

  /// Compiles one page.
  ///
  /// `records` are the view models that its templates may read, the outermost first.
  mutating func compile(
    _ name: String, records: [RecordSchema]
  ) throws(WebFileError) -> CompiledTemplate {
    let page = try template(name, usedBy: WebFileError(name, "there is no such template"))
    var work = Work(file: name, scopes: records, markup: MarkupScanner(base: base))
    if let layout = page.layout {
      work.blocks = page.blocks.mapValues { ($0, name) }
      work.blocks["content"] = (page.content, name)
      work.file = layout
      let missing = WebFileError("templates/\(name)", "there is no layout \(layout)")
      let frame = try template(layout, usedBy: missing)
      try compile(frame.content, &work)
      if let unused = page.blocks.keys.first(where: { !work.filledSlots.contains($0) }) {
        throw WebFileError("templates/\(name)", "\(layout) has no slot \(unused)")
      }
    } else {
      try compile(page.content, &work)
    }
    guard work.markup.isAtRest else {
      throw WebFileError("templates/\(name)", "the page ends inside a tag")
    }
    return CompiledTemplate(instructions: work.out)
  }

  /// The state while one page is compiled.
  struct Work {
    var file: String
    var scopes: [RecordSchema]
    var markup: MarkupScanner
    var out: [Instruction] = []
    var blocks: [String: (nodes: [TemplateNode], file: String)] = [:]
    var filledSlots: Set<String> = []
    var includes: [String] = []

    func problem(_ text: String, line: Int) -> WebFileError {
      WebFileError("templates/\(file)", line: line, text)
    }

    mutating func emit(_ bytes: [UInt8]) {
      if case .literal(let before)? = out.last {
        // A line of the template that holds only a tag must not become an empty line in the page.
        let isSecondBreak = before.last == lineBreak && bytes.first == lineBreak
        out[out.count - 1] = .literal(before + (isSecondBreak ? bytes.dropFirst() : bytes[...]))
      } else if !bytes.isEmpty {
        out.append(.literal(bytes))
      }
    }
  }

  private func template(
    _ name: String, usedBy missing: WebFileError
  ) throws(WebFileError) -> ParsedTemplate {
    guard let found = templates[name] else { throw missing }
    return found
  }

  private mutating func compile(_ nodes: [TemplateNode], _ work: inout Work) throws(WebFileError) {
    for node in nodes { try compile(node, &work) }
  }

  private mutating func compile(_ node: TemplateNode, _ work: inout Work) throws(WebFileError) {
    switch node {
    case .literal(let bytes, let line):
      var lines = line
      do throws(MarkupScanner.Refusal) {
        work.emit(try work.markup.scan(bytes, lines: &lines))
      } catch {
        throw work.problem(error.reason, line: lines)
      }
    case .insert(let name, let line): try compileInsert(name, line, &work)
    case .text(let key, let arguments, let line): try compileText(key, arguments, line, &work)
    case .asset(let name, let line):
      guard let path = files.path(of: name) else {
        throw work.problem("there is no static file \(name)", line: line)
      }
      guard try slot(line, &work) == .address else {
        throw work.problem("an asset may only be used in href or src", line: line)
      }
      work.emit(Array(path.below(base).utf8))
    case .iso(let name, let line):
      let (reference, kind) = try resolve(name, line, work)
      guard case .moment = kind else { throw work.problem("\(name) is no time", line: line) }
      guard try slot(line, &work) != .address else {
        throw work.problem("a time is no address", line: line)
      }
      work.out.append(.iso(reference))
    case .branch(let name, let negated, let then, let otherwise, let line):
      let (reference, _) = try resolve(name, line, work)
      let (first, second) = try compileBranches(then, otherwise, scope: nil, line, &work)
      work.out.append(.branch(reference, negated: negated, first, second))
    case .with(let name, let body, let otherwise, let line):
      let (reference, kind) = try resolve(name, line, work)
      guard case .record(let inner) = kind else {
        throw work.problem("\(name) is no record: use #if", line: line)
      }
      let (first, second) = try compileBranches(body, otherwise, scope: inner, line, &work)
      work.out.append(.with(reference, first, second))
    case .each(let name, let body, let line):
      let (reference, kind) = try resolve(name, line, work)
      guard case .list(let inner) = kind else {
        throw work.problem("\(name) is no list", line: line)
      }
      let (first, _) = try compileBranches(body, [], scope: inner, line, &work)
      work.out.append(.each(reference, first))
    case .include(let name, let line): try compileInclude(name, line, &work)
    case .slot(let name, _):
      work.filledSlots.insert(name)
      guard let block = work.blocks[name] else { return }
      let file = work.file
      work.file = block.file
      try compile(block.nodes, &work)
      work.file = file
    }
  }

  private mutating func compileInclude(
    _ name: String, _ line: Int, _ work: inout Work
  ) throws(WebFileError) {
    let missing = work.problem("there is no template \(name)", line: line)
    let included = try template(name, usedBy: missing)
    guard !work.includes.contains(name) else {
      throw work.problem("\(name) includes itself", line: line)
    }
    guard included.layout == nil, included.blocks.isEmpty else {
      throw work.problem("\(name) is a page; only a piece can be included", line: line)
    }
    let file = work.file
    work.file = name
    work.includes.append(name)
    try compile(included.content, &work)
    work.includes.removeLast()
    work.file = file
  }

  /// Compiles both branches of an `#if`, each from the current HTML context; both must end in the same context.
  private mutating func compileBranches(
    _ then: [TemplateNode], _ otherwise: [TemplateNode], scope: RecordSchema?, _ line: Int,
    _ work: inout Work
  ) throws(WebFileError) -> ([Instruction], [Instruction]) {
    let outside = work.out
    let start = work.markup
    work.out = []
    if let scope { work.scopes.append(scope) }
    try compile(then, &work)
    if scope != nil { work.scopes.removeLast() }
    let first = work.out
    let end = work.markup
    work.out = []
    work.markup = start
    try compile(otherwise, &work)
    let second = work.out
    guard end.agrees(with: work.markup) else {
      throw work.problem(
        "the branches end in different places of the HTML; close tags and quotes inside", line: line
      )
    }
    work.out = outside
    return (first, second)
  }

  mutating func slot(
    _ line: Int, _ work: inout Work
  ) throws(WebFileError) -> MarkupScanner.Slot {
    do throws(MarkupScanner.Refusal) {
      return try work.markup.slot()
    } catch {
      throw work.problem(error.reason, line: line)
    }
  }

  private mutating func compileInsert(
    _ name: String, _ line: Int, _ work: inout Work
  ) throws(WebFileError) {
    let (reference, kind) = try resolve(name, line, work)
    let slot = try slot(line, &work)
    switch kind {
    case .path: break
    case .text, .foreign, .moment, .duration, .count:
      guard slot != .address else {
        throw work.problem("only a path may be in \(work.markup.attribute)", line: line)
      }
    case .flag, .choice, .record, .list:
      throw work.problem("\(name) cannot be shown as text: use it with #if, #each, #with or t", line: line)
    }
    work.out.append(.insert(reference, slot))
  }
}

private let lineBreak = UInt8(ascii: "\n")
