import RegentPlatform
import Testing

@Suite struct `A settings file` {
  @Test func `is changed in its lines, and keeps comments and order`() {
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

  @Test func `does not grow when a setting comes and goes, and what somebody wrote about it stays`() {
    let text = "# Behind a proxy.\nA=1\n# Else a certificate.\n#B=/fullchain.pem\nC=5\n"
    var file = EnvironmentFile(text)
    for value in ["/one", "/two", "/three"] {
      file.set("B", value)
      #expect(file.text == text.replacing("chain.pem\n", with: "chain.pem\nB=\(value)\n"))
      file.set("B", nil)
      #expect(file.text == text)
    }
    #expect(file.changes.count == 6)
    // What stands there without an example is kept as one.
    file.set("C", nil)
    #expect(file.text.hasSuffix("\n#C=5\n"))
    file.set("C", "6")
    file.set("C", nil)
    #expect(file.text.hasSuffix("\n#C=5\n"))
  }

  @Test func `takes a value as one value, whatever is in it`() {
    var file = EnvironmentFile("")
    file.set("A", "a\"$(touch x)`\\ \nB=2")
    #expect(file.text == "A=\"a\\\"\\$(touch x)\\`\\\\  B=2\"\n")
  }
}
