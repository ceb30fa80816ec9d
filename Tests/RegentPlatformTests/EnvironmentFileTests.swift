import RegentPlatform
import Testing

@Suite struct `Settings files in the format of systemd` {
  @Test func `changing a setting keeps the comments and the order of the lines`() {
    var file = EnvironmentFile("# where\nA=1\n\n#B=\"x y\"\n# last\nA=2\n")
    file.set("A", "3")
    file.set("B", "*:8443")
    file.set("C", "plain")
    #expect(file.text == "# where\nA=1\n\n#B=\"x y\"\nB=\"*:8443\"\n# last\nA=3\nC=plain\n")
    #expect(file.changes.map(\.old) == ["A=2", nil, nil])
    file.set("A", nil)
    #expect(!file.text.contains("\nA="))
    var again = EnvironmentFile(file.text)
    again.set("B", "*:8443")
    again.set("A", nil)
    #expect(again.changes.isEmpty)
  }

  @Test func `setting and unsetting again keeps the file's size and its comments`() {
    let text = "# Behind a proxy.\nA=1\n# Else a certificate.\n#B=/fullchain.pem\nC=5\n"
    var file = EnvironmentFile(text)
    for value in ["/one", "/two", "/three"] {
      file.set("B", value)
      #expect(file.text == text.replacing("chain.pem\n", with: "chain.pem\nB=\(value)\n"))
      file.set("B", nil)
      #expect(file.text == text)
    }
    #expect(file.changes.count == 6)
    // A setting without a commented example becomes one when it is unset.
    file.set("C", nil)
    #expect(file.text.hasSuffix("\n#C=5\n"))
    file.set("C", "6")
    file.set("C", nil)
    #expect(file.text.hasSuffix("\n#C=5\n"))
  }

  @Test func `a value is written as one value, whatever characters it has`() {
    var file = EnvironmentFile("")
    file.set("A", "a\"$(touch x)`\\ \nB=2")
    #expect(file.text == "A=\"a\\\"\\$(touch x)\\`\\\\  B=2\"\n")
  }

  @Test func `a file with Windows line ends keeps them`() {
    var file = EnvironmentFile("# where\r\nA=1\r\nB=\"x y\"\r\n#C=5\r\nD=4")
    #expect(file.value(of: "A") == "1" && file.value(of: "B") == "x y" && file.value(of: "D") == "4")
    file.set("A", "3")
    file.set("C", "6")
    file.set("E", "7")
    file.set("B", nil)
    #expect(file.text == "# where\r\nA=3\r\n#B=\"x y\"\r\n#C=5\r\nC=6\r\nD=4\r\nE=7\r\n")
    #expect(file.changes.map(\.new) == ["A=3", "C=6", "E=7", "#B=\"x y\""])
  }

  @Test func `a quotation mark is escaped even if it carries a combining mark`() {
    var file = EnvironmentFile("")
    let value = "a\"\u{301} $\u{301}(x)`\u{301}\\\u{301}"
    let line = "A=\"a\\\"\u{301} \\$\u{301}(x)\\`\u{301}\\\\\u{301}\"\n"
    file.set("A", value)
    #expect(Array(file.text.utf8) == Array(line.utf8))
    #expect(EnvironmentFile(line).value(of: "A") == value)
    // The same for a combining mark on the equals sign and on the comment sign.
    let signs = "A=\u{301}1\n#\u{301}A=2\n"
    #expect(EnvironmentFile(signs).value(of: "A")?.unicodeScalars.map(\.value) == [0x301, 0x31])
  }

  @Test(arguments: [
    ("A=1\n  A=2\n", "2"), ("A=1\n\tA = 2\n", "2"), ("A=1\nA=2 \\\n  3\n", "2   3"), ("A=1 \\\nA=2\n", "1 A=2"),
    ("A=\"1\nA=2\"\n", "1\nA=2"), ("A='1\\'\n", "1\\"), ("A=\"a\\nb\\\"c\"'d e' f\n", "a\\nb\"cd ef"),
    ("A=a\\ b  \n", "a b"),
    ("A\nA=1\n;A=2\n#A=3\n", "1"), ("A=\nB=1\n", ""), ("export A=1\nA=2", "2"), ("A=x\\", "x"),
  ])
  func `a file is read as systemd reads it, and a changed setting takes effect`(text: String, value: String) {
    var file = EnvironmentFile(text)
    #expect(file.value(of: "A") == value)
    file.set("A", "new")
    #expect(file.value(of: "A") == "new")
    let again = EnvironmentFile(file.text)
    #expect(again.value(of: "A") == "new", "\(file.text)")
    #expect(again.value(of: "B") == EnvironmentFile(text).value(of: "B"))
    file.set("A", nil)
    #expect(EnvironmentFile(file.text).value(of: "A").map { $0 != "new" && $0 != value } ?? true, "\(file.text)")
  }

  /// Whether the line after a comment that ends in a backslash belongs to the comment depends on the version of
  /// systemd.
  @Test func `a setting is never written where versions of systemd disagree about a backslash in a comment`() {
    var file = EnvironmentFile("#A=C:\\\nB=1\n")
    file.set("A", "2")
    #expect(file.text == "#A=C:\\\nB=1\nA=2\n")
    var other = EnvironmentFile("# C:\\\nB=1\n")
    other.set("B", "2")
    #expect(other.text == "# C:\\\n#B=1\nB=2\n")
    var last = EnvironmentFile("# C:\\")
    last.set("B", "2")
    #expect(last.text == "# C:\\\n\nB=2\n")
  }
}
