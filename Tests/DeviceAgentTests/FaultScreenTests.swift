import CommandKit
import RegentHTTPClient
import RegentPlatform
import Testing

@testable import DeviceAgent

/// Draws every fault with and without a code, on a small and a usual console, in each language.
///
/// `REGENT_SCREENS=FILE` writes the screens into a file, to be read by a person.
@Suite struct `The screens of every fault` {
  private static let faults: [(name: String, trouble: PairingObstacle)] =
    [
      ("no connection", .offline(host: "tv.example.org")), ("wrong clock", .clock), ("guest network", .portal),
      ("refused credentials", .refused), ("foreign address", .foreignAddress), ("busy", .busy()),
      ("busy for a time", .busy(seconds: 40)), ("service error", .service), ("full disk", .storage),
      ("read-only disk", .readOnly),
    ]
    + [
      ClientError.TLSFault.untrusted, .wrongHost, .expired, .notYetValid, .refusedCertificate, .handshake,
      .noAuthorities,
    ].map { ("certificate: \($0.rawValue)", .certificate($0)) }

  private static let stages: [(name: String, view: @Sendable (PairingObstacle) -> PairView)] = [
    ("no code", { Scene.view(.starting, trouble: $0) }), ("code", { Scene.view(.waiting(Scene.code()), trouble: $0) }),
    ("failed", { Scene.view(.failed($0, hint: "run regent doctor")) }),
  ]

  @Test func `each screen contains the whole sentence about the fault`() throws {
    var text = ""
    for language in Language.allCases {
      for size in [WindowSize(rows: 15, columns: 40), WindowSize(rows: 25, columns: 80)] {
        for (name, trouble) in Self.faults {
          for (stage, view) in Self.stages {
            let screen = PairScreen(size: size, capabilities: TerminalCapabilities(), language: language)
            let lines = screen.canvas(of: view(trouble), now: Scene.now).lines
            let title = "\(language), \(size.columns)×\(size.rows), \(name), \(stage)"
            text += "==== \(title)\n" + lines.map { $0 + "\n" }.joined()
            let sentence = screen.sentence(about: trouble).filter { $0 != " " }
            #expect(Self.isIn(lines, sentence), "\(title):\n\(lines.joined(separator: "\n"))")
          }
        }
      }
    }
    if let file = ProcessEnvironment.value("REGENT_SCREENS") { try DurableFile.write(Array(text.utf8), to: file) }
  }

  @Test(arguments: Language.allCases)
  func `a small screen names every key, what the code is for and whether it stays valid`(language: Language) {
    let texts = Texts(language)
    for (name, trouble) in Self.faults {
      for (stage, view) in Self.stages {
        let screen = PairScreen(
          size: WindowSize(rows: 15, columns: 40), capabilities: TerminalCapabilities(), language: language)
        let lines = screen.canvas(of: view(trouble), now: Scene.now).lines
        let text = "\(name), \(stage):\n\(lines.joined(separator: "\n"))"
        #expect(lines.last?.contains(texts[.keyProvider]) == true, "\(text)")
        guard stage == "code" else { continue }
        #expect(lines.contains(texts[.noRoomForCode]), "\(text)")
        #expect(text.contains(texts[.codeStays]) == trouble.mendsItself, "\(text)")
        // A sentence of one line leaves room for large letters, which have the top of a "B".
        if displayWidth(screen.sentence(about: trouble)) <= 40 { #expect(text.contains("█▀▀▀▄ ▄▀▀▀▄"), "\(text)") }
        // The last line above the keys has the code and the address as text, and the viewer sees all of it.
        #expect(lines.dropLast().last?.hasSuffix("tv.example.org") == true, "\(text)")
      }
    }
  }

  /// Whether the text is on the screen, beside or below the QR code.
  private static func isIn(_ lines: [String], _ sentence: String) -> Bool {
    let drawn: Set<Character> = [" ", "█", "▀", "▄"]
    return lines.joined().filter { !drawn.contains($0) }.contains(sentence)
  }
}
