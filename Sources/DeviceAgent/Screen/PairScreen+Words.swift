import CommandKit
import RegentHTTPClient
import RegentPlatform

extension PairScreen {
  /// The text for the current stage of the sign-in.
  ///
  /// `withPicture` says whether there is a QR code beside the text.
  func panel(for view: PairView, _ now: Int64, withPicture: Bool) -> Panel {
    var panel = Panel(glyphs: capabilities.glyphs)
    switch view.stage {
    case .starting:
      panel.say(texts[.starting], importance: 3)
    case .choosing: break
    case .waiting(let code), .connected(let code):
      addCode(code, view, now, withPicture, to: &panel)
    case .number(let code, let number):
      panel.say(texts[.chooseNumber], .bold, importance: 3)
      panel.blocks.append(.gap)
      panel.blocks.append(.large(String(number)))
      panel.blocks.append(.gap)
      panel.say("\(texts[.code]) \(code.display)", importance: 2)
      panel.say(texts[.compareCode], importance: 1)
      panel.blocks.append(timeLeft(code, now))
    case .signedIn(let name, let provider):
      let mark = capabilities.isUnicode ? "✓ " : ""
      let sentence = name.map { texts[.signedInAs, ["name": $0]] } ?? texts[.signedIn]
      panel.say(mark + sentence, .good, importance: 3)
      if let provider { panel.say(texts[.signedInProvider, ["provider": provider]], importance: 1) }
    case .denied: panel.say(texts[.denied], .bad, importance: 3)
    case .deniedAtNumber: panel.say(texts[.deniedAtNumber], .bad, importance: 3)
    case .expired: panel.say(texts[.expired], .warning, importance: 3)
    case .resting:
      panel.say(texts[.restingWhy], importance: 2)
      panel.say(texts[.resting], .bold, importance: 3)
    case .failed(let trouble, let hint):
      panel.say(sentence(about: trouble), .bad, importance: 3)
      // The hint is not translated, because it names options and commands.
      panel.say(hint ?? "", importance: 2)
      if trouble.mendsItself { panel.say(texts[.offlineRetry], importance: 2) }
    }
    if view.isAccountDisabled, view.stage.code == nil, !view.stage.isFailure {
      panel.blocks.append(.gap)
      panel.say(texts[.problemAccountDisabled], .warning, importance: 3)
    }
    if let trouble = view.trouble, view.stage.code == nil, !view.stage.isFailure {
      panel.blocks.append(.gap)
      panel.say(sentence(about: trouble), .warning, importance: 3)
      // While no code is shown, the program retries everything, even if the disk is full or read-only.
      panel.say(texts[.offlineRetry], importance: 2)
    }
    return panel
  }

  private func addCode(
    _ code: ShownCode, _ view: PairView, _ now: Int64, _ withPicture: Bool, to panel: inout Panel
  ) {
    if withPicture {
      panel.say(texts[.scan], .bold, importance: 1)
      panel.say(texts[.orOpen], importance: 1)
    } else {
      panel.say(pictureNote(view), importance: 2)
      panel.blocks.append(.gap)
      if view.picture != .characters { panel.say(texts[.address], importance: 1) }
    }
    if withPicture || view.picture == .framebuffer {
      panel.say(code.address, .accent, importance: 3)
    } else {
      panel.blocks.append(.address(code.address))
    }
    // Without a QR code, the note above the address already tells the viewer to enter the code.
    if withPicture || view.picture != .characters { panel.say(texts[.enterCode], importance: 1) }
    panel.blocks.append(.gap)
    panel.blocks.append(.large(code.display))
    panel.blocks.append(.gap)
    // A small screen has no title line, so the product name is shown here.
    if size.rows < 22, view.product != PairView.usualProduct {
      panel.say(view.product, .accent, importance: 1)
    }
    if let trouble = view.trouble {
      panel.say(sentence(about: trouble), .warning, importance: 3)
      if trouble.mendsItself { panel.say(texts[.codeStays], importance: 2) }
    } else if case .connected = view.stage {
      panel.say(texts[.connected], .good, importance: 3)
      panel.say(texts[.compareCode], importance: 1)
    } else if view.isAccountDisabled {
      panel.say(texts[.problemAccountDisabled], .warning, importance: 3)
      if code.needsSameNetwork { panel.say(texts[.sameNetwork], importance: 2) }
    } else {
      panel.say(texts[.waiting], importance: 2)
      if code.needsSameNetwork { panel.say(texts[.sameNetwork], importance: 2) }
    }
    panel.blocks.append(timeLeft(code, now))
  }

  /// Why no QR code is drawn with characters, and what the viewer can do.
  private func pictureNote(_ view: PairView) -> String {
    switch view.picture {
    case .characters: texts[.noRoomForCode]
    case .framebuffer: texts[.pictureElsewhere]
    case .file(let path): texts[.pictureInFile, ["file": path]]
    case .none: ""
    }
  }

  private func timeLeft(_ code: ShownCode, _ now: Int64) -> Panel.Block {
    let left = code.millisecondsLeft(at: now)
    let label =
      left < 60_000
      ? texts[.underMinuteLeft] : texts[.minutesLeft, ["count": String((left + 59_999) / 60_000)]]
    return .bar(code.fractionLeft(at: now), label)
  }

  func sentence(about trouble: PairingObstacle) -> String {
    switch trouble {
    case .offline(let host): texts[.offline, ["host": host]]
    case .clock: texts[.problemClock]
    case .portal: texts[.problemPortal]
    case .certificate(let fault): texts[fault.phrase]
    case .refused: texts[.problemRefused]
    case .foreignAddress: texts[.problemForeignAddress]
    case .busy(let seconds?): texts[.problemBusyFor, ["count": String(seconds)]]
    case .busy(nil): texts[.problemBusy]
    case .service: texts[.problemService]
    case .storage: texts[.problemStorage]
    case .readOnly: texts[.problemReadOnly]
    case .accountDisabled: texts[.problemAccountDisabled]
    }
  }
}

extension Panel {
  fileprivate mutating func say(_ text: String, _ style: Style = .plain, importance: Int) {
    if !text.isEmpty { blocks.append(.text(text, style, importance: importance)) }
  }
}

extension PairStage {
  fileprivate var isFailure: Bool {
    if case .failed = self { true } else { false }
  }
}

extension PairingObstacle {
  /// Whether the problem may disappear without an action of the viewer.
  var mendsItself: Bool {
    switch self {
    case .offline, .portal, .certificate, .busy, .service, .clock: true
    case .refused, .foreignAddress, .storage, .readOnly, .accountDisabled: false
    }
  }
}

extension ClientError.TLSFault {
  fileprivate var phrase: Phrase {
    switch self {
    case .untrusted: .certificateUntrusted
    case .wrongHost: .certificateOtherName
    case .expired: .certificateExpired
    case .notYetValid: .certificateNotYetValid
    case .refusedCertificate: .certificateRefused
    case .noAuthorities: .noAuthorities
    case .handshake: .handshakeFailed
    case .clockAhead, .clockBehind: .problemClock
    }
  }
}
