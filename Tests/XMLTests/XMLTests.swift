import Testing
import XML

@Suite("Strict reading of untrusted XML")
struct XMLTests {
  private func read(_ text: String, _ limits: XMLLimits = XMLLimits()) throws(XMLError)
    -> XMLElement
  {
    try XMLElement(reading: Array(text.utf8), limits: limits)
  }

  @Test func `a document is read into a tree`() throws {
    let root = try read(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!-- before -->
      <a x="1" y='two'>one<b/>two<b>three</b></a>
      """)
    #expect(root.name == XMLName("a"))
    #expect(root.attribute(XMLName("x")) == "1" && root.attribute(XMLName("y")) == "two")
    #expect(root.attribute(XMLName("z")) == nil)
    #expect(root.text == "onetwo")
    #expect(root.children(XMLName("b")).map(\.text) == ["", "three"])
  }

  @Test(arguments: [
    ("<a>&lt;&gt;&amp;&quot;&apos;</a>", "<>&\"'"), ("<a>&#75;&#x212A;</a>", "K\u{212A}"),
    ("<a>one<!-- and -->two</a>", "onetwo"), ("<a><![CDATA[<b>&amp;]]>!</a>", "<b>&amp;!"),
    ("<a>한국어\r\nè</a>", "한국어\nè"), ("<a/>", ""),
  ])
  func `the text of an element is complete`(document: String, text: String) throws {
    #expect(try read(document).text.utf8.elementsEqual(text.utf8))
  }

  @Test(arguments: [
    "<a>MARKS</a>", "<a x='MARKS'/>", "<a>HALF<b/>HALF</a>", "<a>HALF<!-- -->HALF</a>", "<a><b>HALF</b>HALF</a>",
    "<a>HALF<![CDATA[\u{301}]]>HALF</a>",
  ])
  func `a document with many combining marks in a row is refused`(document: String) throws {
    let half = String(repeating: "&#x301;", count: 15) + "\u{327}"
    let text = document.replacing("MARKS", with: half + half).replacing("HALF", with: half)
    #expect(throws: XMLError.tooManyMarks) { try read(text) }
    #expect(throws: Never.self) { try read(document.replacing("MARKS", with: half).replacing("HALF", with: "\u{301}")) }
  }

  @Test func `names are compared by namespace, whatever the prefix is`() throws {
    let root = try read(
      """
      <r xmlns:m="urn:one"><m:x/><x xmlns="urn:one"/><n:x xmlns:n="urn:one" n:k="1" k="2"/><x/></r>
      """)
    #expect(root.children(XMLName("x", in: "urn:one")).count == 3)
    #expect(root.children(XMLName("x")).count == 1)
    let third = root.children[2]
    #expect(third.attribute(XMLName("k")) == "2")
    #expect(third.attribute(XMLName("k", in: "urn:one")) == "1")
  }

  @Test func `names are compared byte by byte`() throws {
    let root = try read("<a><\u{212A}/></a>")
    #expect(root.children(XMLName("K")).isEmpty)
    #expect(root.children(XMLName("\u{212A}")).count == 1)
  }

  @Test(arguments: [
    "", " ", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>x", "<a b='1' b='2'/>", "<a b=1/>",
    "<a>&nbsp;</a>", "<a>&#0;</a>", "<a>&#1;</a>", "<a>\u{1}</a>", "<a>\u{0}</a>", "<a>]]></a>",
    "<a>&</a>", "<p:a/>", "<a p:b='1'/>", "<a xmlns:xml='urn:x'/>", "<a xmlns:p=''/>",
    "<1/>", "<a", "<a><!-- -- --></a>", "<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>",
  ])
  func `a document that is not well-formed is refused`(document: String) {
    #expect {
      try read(document)
    } throws: { error in
      if case .notWellFormed = error as? XMLError { true } else { false }
    }
  }

  @Test(arguments: [
    "<!DOCTYPE a><a/>",
    "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
    "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "<!DOCTYPE a [<!ENTITY % b SYSTEM 'http://127.0.0.1/'> %b;]><a/>",
    "<!DOCTYPE a [<!ENTITY a0 'ha'><!ENTITY a1 '&a0;&a0;'><!ENTITY a2 '&a1;&a1;'>]><a>&a2;</a>",
    "<!DOCTYPE a [<!ATTLIST a b CDATA 'default'>]><a/>",
    "<?php x?><a/>", "<a><?x y?></a>", "<a/><?x?>",
  ])
  func `doctypes, entities and processing instructions are refused`(document: String) {
    #expect {
      try read(document)
    } throws: { error in
      if case .forbidden = error as? XMLError { true } else { false }
    }
  }

  @Test func `bytes that are not UTF-8 are refused, whatever encoding the document claims`() {
    let latin =
      Array("<?xml version='1.0' encoding='ISO-8859-1'?><a>".utf8) + [0xE8]
      + Array("</a>".utf8)
    let wide = "<a/>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    for document in [latin, [0xFF, 0xFE] + wide, [0xC0, 0x80]] {
      #expect(throws: XMLError.self) { try XMLElement(reading: document) }
    }
  }

  @Test func `a claimed encoding is ignored`() throws {
    #expect(try read("<?xml version='1.0' encoding='ISO-8859-1'?><a>è</a>").text == "è")
  }

  @Test func `a document that exceeds any size limit is refused`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    }
    func wide(_ count: Int) -> String {
      "<r>" + String(repeating: "<a/>", count: count - 1) + "</r>"
    }
    func attributes(_ count: Int) -> String {
      "<a " + (0..<count).map { "k\($0)='v'" }.joined(separator: " ") + "/>"
    }
    func name(_ length: Int) -> String { "<\(String(repeating: "n", count: length))/>" }
    func space(_ length: Int) -> String {
      "<p:a xmlns:p='\(String(repeating: "u", count: length))'/>"
    }
    let limits = XMLLimits(bytes: 2000, depth: 5, elements: 50, attributes: 7, name: 100)
    for good in [
      nested(5), wide(50), attributes(7), name(100), space(98), "<a>" + filler(1993) + "</a>",
    ] {
      _ = try read(good, limits)
    }
    for bad in [
      nested(6), wide(51), attributes(8), name(101), space(100), "<a>" + filler(1994) + "</a>",
    ] {
      #expect("\(bad.prefix(40))") {
        try read(bad, limits)
      } throws: { error in
        if case .tooLarge = error as? XMLError { true } else { false }
      }
    }
  }

  private func filler(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test func `a text of very many small pieces is read quickly`() throws {
    let text = String(repeating: "&amp;", count: 200_000)
    let root = try read("<a>\(text)</a>", XMLLimits(bytes: 2_000_000))
    #expect(root.nodes.count == 1 && root.text.utf8.count == 200_000)
  }

  @Test func `an error names the line and column and never repeats the document`() {
    do {
      _ = try read("<secret>\n  <open></secret>")
      Issue.record("it was read")
    } catch {
      #expect("\(error)".contains("line 2, column 11"), "\(error)")
      #expect(!"\(error)".contains("secret"))
    }
  }
}
