internal import Administration
internal import RegentPairing

// Problems of the machine's clock, for `regentctl doctor`.

extension AdminCall {
  /// Compares the service's clock with the last trusted time and with the clocks of boxes.
  func clockFindings() -> [Finding] { troubleFindings() + boxClockFindings() }

  private func troubleFindings() -> [Finding] {
    switch core.clockTrouble {
    case nil: []
    case .ahead(let ahead, let left):
      // The finding is only a warning: a corrected clock looks the same for a day, and everything but deletion works.
      [
        Finding(
          "clock", .warning,
          "the machine's clock jumped ahead by \(ahead.inWords): nothing is deleted for its age until the clock"
            + " has been steady for \(left.inWords) more",
          fix: "check the clock: timedatectl; set it if it is wrong; if it is right, this warning ends by itself")
      ]
    case .setBack(let left):
      [
        Finding(
          "clock", .bad,
          "the machine's clock was set back: the service refuses signed calls for \(left.inWords), because it cannot"
            + " tell new calls from replayed ones",
          fix: "check the clock: timedatectl; set it if it is wrong, and wait if it is right")
      ]
    }
  }

  private func boxClockFindings() -> [Finding] {
    guard let (boxes, ahead) = core.boxClockDifference else { return [] }
    let seconds = ahead.components.seconds
    return [
      Finding(
        "clock-of-boxes", .warning,
        "the clocks differ: this machine is \(seconds.magnitude) s \(seconds > 0 ? "ahead of" : "behind") "
          + (boxes == 1 ? "the only box that reported its time" : "the median of \(boxes) boxes"),
        fix: "check this machine's clock: timedatectl; if it is right, run sudo regent doctor on the boxes")
    ]
  }
}
