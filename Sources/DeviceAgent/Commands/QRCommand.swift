import CommandKit
import RegentPlatform
import QRCode

/// `regent qr TEXT`: shows a text as a QR code, to test what the screen can display.
enum QRCommand {
  private static let text = Input.argument("TEXT", .text, "the text in the QR code")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "qr", "draw a text as a QR code, to test this screen",
      inputs: [text, PictureOptions.file, PictureOptions.picture],
      sections: [
        InputSection("framebuffer", [PictureOptions.device, PictureOptions.geometry])
      ],
      example: "regent qr HTTPS://TV.EXAMPLE.ORG"
    ) { call throws in
      context.hearsNoSignals()
      let code: QRCode
      do throws(QRCodeError) {
        code = try QRCode(call[text])
      } catch {
        throw CommandError(error.description, hint: error.hint)
      }
      let target = try PictureOptions.target(call)
      if target == .none {
        guard call[PictureOptions.picture] != .none else { return }
        try draw(code, call)
      } else {
        let failure = Locked<CommandError?>(nil)
        let pictureOutput = PictureOutput(target) { error in failure.withLock { $0 = error } }
        pictureOutput.show(call[text])
        if let failure = failure.withLock({ $0 }) { throw failure }
      }
    }
  }

  private static func draw(_ code: QRCode, _ call: Invocation) throws(CommandError) {
    let isTerminal = call.console.output.isTerminal
    let facts = TerminalFacts(of: 1, call.environment)
    let capabilities = facts.capabilities(asked: call[PictureOptions.picture])
    let shape: TerminalText.Shape =
      switch capabilities.glyphs {
      case .halfBlocks: .halfBlocks
      case .fullBlocks: .fullBlocks
      case .ascii: .ascii
      }
    // In a pipe the colours of the final terminal are unknown, so none are used.
    let colours: TerminalText.Colours =
      !isTerminal || !facts.canBeDrawnOn ? .plain : capabilities.depth == .palette ? .ansi256 : .ansi8
    let text = TerminalText(shape, colours: colours)
    let room = isTerminal ? call.console.output.columns() : nil
    guard let text = code.fitted(text, columns: room) else {
      throw CommandError(
        "the QR code is \(text.size(side: code.side).columns) columns wide and this screen has \(room ?? 0)",
        hint: "use --qr png FILE, --qr framebuffer, or a shorter text")
    }
    for line in code.lines(text) { call.console.draw(line + "\n") }
  }
}
