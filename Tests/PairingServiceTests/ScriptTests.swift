import Testing

@testable import PairingService

/// Names and syntax that Safari 13.0 or Chrome 80 lack, with the versions that introduced them.
///
/// Unknown syntax stops the whole script; an unknown name stops the part that uses it.
private let newer: [(what: String, pattern: String, since: String)] = [
  ("optional chaining", #"\?\.[^0-9]"#, "Safari 13.1"),
  ("??", #"\?\?"#, "Safari 13.1"),
  ("logical assignment", #"&&=|\|\|="#, "Safari 14, Chrome 85"),
  ("private members", #"#[A-Za-z_]+\s*(\(|=|;)|this\.#"#, "Safari 14.1, Chrome 74 to 84"),
  ("class fields", #"\n\s+static\s*[A-Za-z{]"#, "Safari 14.1, Chrome 72 to 94"),
  ("top-level await", #"\nawait "#, "Safari 15, Chrome 89"),
  ("lookbehind", #"\(\?<[=!]"#, "Safari 16.4"),
  ("flags d and v", #"\/[gimsuy]*[dv][gimsuy]*\.(test|exec)\("#, "Safari 15, Chrome 90"),
  ("BigInt", #"\b[0-9]+n\b|\bBigInt\b"#, "Safari 14"),
  ("requestSubmit", #"\.requestSubmit\b"#, "Safari 16"),
  ("submitter", #"\.submitter\b"#, "Safari 15.4, Chrome 81"),
  ("replaceAll", #"\.replaceAll\b"#, "Safari 13.1, Chrome 85"),
  ("at", #"\.at\("#, "Safari 15.4, Chrome 92"),
  ("findLast", #"\.findLast(Index)?\b"#, "Safari 15.4, Chrome 97"),
  ("toSorted and its kind", #"\.(toSorted|toReversed|toSpliced|with)\("#, "Safari 16, Chrome 110"),
  ("hasOwn", #"\bhasOwn\b"#, "Safari 15.4, Chrome 93"),
  ("groupBy", #"\bgroupBy\b"#, "Safari 17.4, Chrome 117"),
  ("structuredClone", #"\bstructuredClone\b"#, "Safari 15.4, Chrome 98"),
  ("allSettled and its kind", #"\bPromise\.(any|withResolvers|try)\b"#, "Safari 14, Chrome 85"),
  ("WeakRef", #"\bWeakRef\b|\bFinalizationRegistry\b"#, "Safari 14.1, Chrome 84"),
  ("AbortSignal's own", #"\bAbortSignal\.(timeout|any|abort)\b|\bsignal:"#, "Safari 15 to 17.4, Chrome 90 to 116"),
  ("replaceChildren", #"\.replaceChildren\b"#, "Safari 14, Chrome 86"),
  ("checkVisibility", #"\.checkVisibility\b"#, "Safari 17.4, Chrome 105"),
  ("getAnimations", #"\.getAnimations\b"#, "Safari 13.1, Chrome 84"),
  ("inert", #"\binert\b"#, "Safari 15.5, Chrome 102"),
  ("popovers and dialogs", #"\.(showPopover|hidePopover|togglePopover|showModal)\b"#, "Safari 15.4 to 17"),
  ("beforeinput", #"\bbeforeinput\b"#, "Chrome 60, Firefox 87"),
  ("randomUUID", #"\brandomUUID\b"#, "Safari 15.4, Chrome 92"),
  ("newer selectors", #":(is|where|has|user-valid|user-invalid|focus-visible|modal)\b"#, "Safari 14 to 15.4"),
  ("ResizeObserver", #"\bResizeObserver\b"#, "Safari 13.1"),
  ("requestIdleCallback", #"\brequestIdleCallback\b"#, "no Safari"),
  ("scheduler", #"\bscheduler\."#, "no Safari before 26"),
  ("navigation", #"\bnavigation\.(navigate|addEventListener)\b"#, "Safari 26, Chrome 102"),
  ("view transitions", #"\bstartViewTransition\b"#, "Safari 18, Chrome 111"),
  ("import and export", #"\n\s*(import|export)\s"#, "a module"),
]

/// The newer names and syntax that a script uses outside of its comments.
private func newerParts(of script: String) throws -> [String] {
  let lines = script.split(separator: "\n").map { line in
    line.drop { $0 == " " }.hasPrefix("//") ? "" : line
  }
  let code = "\n" + lines.joined(separator: "\n")
  let found = try newer.filter { code.contains(try Regex($0.pattern).wordBoundaryKind(.simple)) }
  return found.map { "\($0.what) (\($0.since))" }
}

@Suite struct `The script of the phone pages` {
  @Test func `the script uses nothing that Safari 13 or Chrome 80 lack`() throws {
    let scripts = try realWeb.get().contents.filter { $0.key.hasSuffix(".js") }
    #expect(!scripts.isEmpty)
    for (name, bytes) in scripts {
      #expect(try newerParts(of: String(decoding: bytes, as: UTF8.self)) == [], "\(name)")
    }
  }

  @Test(arguments: [
    "const a = b?.c;", "const a = b?.[0];", "const a = b ?? c;", "a ||= b;", "a &&= b;", "this.#a = 1;",
    "class A {\n  static b = 1;\n}", "await load(1);", "/(?<=a)b/.test(c)", "const n = 10n;", "form.requestSubmit();",
    "event.submitter", "text.replaceAll(a, b)", "list.at(-1)", "list.findLast(a)", "list.toSorted()",
    "Object.hasOwn(a, b)", "Object.groupBy(a, b)", "structuredClone(a)", "Promise.any(a)", "new WeakRef(a)",
    "AbortSignal.timeout(1)", "fetch(a, { signal: b })", "a.replaceChildren()", "a.checkVisibility()",
    "a.getAnimations()", "a.inert = true", "a.showModal()", "a.addEventListener(\"beforeinput\", b)",
    "crypto.randomUUID()", "a.matches(\":is(b, c)\")", "a.querySelector(\"b:has(c)\")", "new ResizeObserver(a)",
    "requestIdleCallback(a)", "scheduler.yield()", "document.startViewTransition(a)", "import a from \"b\";",
  ])
  func `newer names and syntax are found, except in comments`(line: String) throws {
    #expect(try !newerParts(of: "// before\n\(line)\n").isEmpty)
    #expect(try newerParts(of: "// \(line.split(separator: "\n").joined())\n").isEmpty, "a comment")
  }

  @Test func `names and syntax that both browsers have are allowed`() throws {
    let known = """
      const f = async ({ a, ...rest }) => { try { await a; } catch { return a ? .5 : [...rest]; } };
      const n = 45_000, p = a ? b : c, r = /\\p{M}/gu, s = `${CSS.escape(a)}`, e = 2 ** 3;
      element.closest("a[href$='b']").dataset.when = list.flatMap(f).includes(a);
      addEventListener("pageshow", f, { once: true });
      """
    #expect(try newerParts(of: known) == [])
  }
}
