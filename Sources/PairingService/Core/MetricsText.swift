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
    text += gauge("codes_live", "Codes that wait for a viewer's answer.", codes.pending)
    text += gauge("waiting", "Long polls that wait for a change.", waiters.count)
    text += gauge(
      "clock_ahead_seconds", "How far the machine's clock seems to be ahead; 0 if no error is known.",
      Int(age.doubt?.ahead.components.seconds ?? 0))
    text += gauge(
      "calls_closed_seconds", "For how long signed calls are refused because the clock was set back.",
      Int(callsClosed?.components.seconds ?? 0))
    return text + monitoredText + nodeChangeFeed.exposition + numbers.timeToApprove.exposition
  }

  func gauge(_ name: String, _ help: String, _ value: Int) -> String {
    "# HELP regent_\(name) \(help)\n# TYPE regent_\(name) gauge\nregent_\(name) \(value)\n"
  }
}

extension ServiceMetrics.Histogram {
  fileprivate var exposition: String {
    let name = "regent_time_to_approve_seconds"
    var text = "# HELP \(name) Time from the creation of a code to its approval.\n"
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
    case .codesStarted: "Registration codes created."
    case .codesOpened: "Codes whose page a phone has opened."
    case .codesApproved: "Codes that a viewer or an operator approved."
    case .codesDelivered: "Codes whose device has fetched its sign-in."
    case .codesDenied: "Codes that a viewer denied or that ended with a wrong number."
    case .codesReported: "Denied codes that the viewer reported with \"I did not start this\"."
    case .codesExpired: "Codes that expired before a viewer answered."
    case .codesWithdrawn: "Codes that the device or an operator withdrew."
    case .wrongCodes: "Entered or requested codes that do not exist."
    case .requestsThrottled: "Requests answered with 429."
    case .callsRefused: "Calls whose credentials were not accepted."
    case .callsOutsideWindow: "Calls refused because their signature is too old or dated in the future."
    case .callsByRetiredKeys: "Calls signed with a key pair that was retired."
    case .signIns: "Sign-ins of phones."
    case .signInsFailed: "Sign-ins of phones that failed."
    case .devicesSignedOut: "Devices that signed out or were signed out."
    case .authorizationsGranted: "Resources that were authorized."
    case .authorizationsDenied: "Resources that were denied."
    case .mediaTokens: "Media tokens issued."
    case .grantsBegun: "Codes that an OAuth client exchanged for tokens."
    case .grantsRefreshed: "Refresh tokens exchanged for new tokens."
    case .refreshesRepeated: "Token responses sent again to an OAuth client that had lost them."
    case .refreshTokensReused: "Grants that ended because a refresh token was used twice."
    }
  }
}
