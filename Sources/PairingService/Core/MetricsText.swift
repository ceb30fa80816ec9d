extension ServiceCore {
  /// The service's metrics in the Prometheus text format.
  package func metricsText() -> String {
    let numbers = metrics.now
    var text = ""
    for event in ServiceMetrics.Event.allCases {
      text += "# HELP regent_\(event.rawValue)_total \(event.help)\n"
      text += "# TYPE regent_\(event.rawValue)_total counter\n"
      text += "regent_\(event.rawValue)_total \(numbers[event])\n"
    }
    text += gauge("codes_live", "Codes that wait for an answer.", codes.pending)
    text += gauge("waiting", "Requests that are held until something changes.", waiters.count)
    text += gauge(
      "clock_ahead_seconds", "How much too late the machine's clock seems to be; 0 when it is believed.",
      Int(age.doubt?.ahead.components.seconds ?? 0))
    text += gauge(
      "calls_closed_seconds", "For how long signed calls are refused because the clock was set back.",
      Int(callsClosed?.components.seconds ?? 0))
    return text + monitoredText + nodeNews.exposition + numbers.timeToApprove.exposition
  }

  func gauge(_ name: String, _ help: String, _ value: Int) -> String {
    "# HELP regent_\(name) \(help)\n# TYPE regent_\(name) gauge\nregent_\(name) \(value)\n"
  }
}

extension ServiceMetrics.Histogram {
  fileprivate var exposition: String {
    let name = "regent_time_to_approve_seconds"
    var text = "# HELP \(name) From a code's creation to the viewer's yes.\n"
    text += "# TYPE \(name) histogram\n"
    var sum = 0
    for (bound, count) in zip(Self.bounds, counts) {
      sum += count
      text += "\(name)_bucket{le=\"\(bound)\"} \(sum)\n"
    }
    let all = counts.reduce(0, +)
    text += "\(name)_bucket{le=\"+Inf\"} \(all)\n"
    text += "\(name)_sum \(Double(sumMilliseconds) / 1000)\n\(name)_count \(all)\n"
    return text
  }
}

extension ServiceMetrics.Event {
  fileprivate var help: String {
    switch self {
    case .codesStarted: "Registration codes handed out."
    case .codesOpened: "Codes whose page a phone has opened."
    case .codesApproved: "Codes that a viewer or an operator approved."
    case .codesDelivered: "Codes whose device has fetched its sign-in."
    case .codesDenied: "Codes that were denied, wrong numbers included."
    case .codesReported: "Codes of which a viewer said: I did not start this. They are denied ones, too."
    case .codesExpired: "Codes that ran out of time unanswered."
    case .codesWithdrawn: "Codes that were taken back."
    case .wrongCodes: "Codes that were asked for and that there are not."
    case .requestsThrottled: "Requests answered with 429."
    case .callsRefused: "Calls whose credentials were not accepted."
    case .callsOutsideWindow: "Calls refused for the time at which they say they were signed."
    case .callsByRetiredKeys: "Calls signed with a key pair that was retired."
    case .signIns: "Sign-ins of phones."
    case .signInsFailed: "Sign-ins of phones that failed."
    case .devicesSignedOut: "Devices that signed out or were signed out."
    case .authorizationsGranted: "Resources that were authorized."
    case .authorizationsDenied: "Resources that were denied."
    case .mediaTokens: "Media tokens issued."
    case .grantsBegun: "Codes that a client of OAuth redeemed."
    case .grantsRefreshed: "Refresh tokens that were used."
    case .refreshesRepeated: "Answers to clients of OAuth that were given again."
    case .refreshTokensReused: "Grants that ended because an old refresh token came back."
    }
  }
}
