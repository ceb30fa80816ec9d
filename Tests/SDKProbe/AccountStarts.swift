import AccessEnabler
import Glibc
import RegentCryptography
import TestSupport

/// Says how long an app takes to start at a box whose account signs it in, how long without one, and how long the
/// question takes who is signed in: medians and 99th percentiles, in milliseconds.
///
/// Words: service, requestor, public key, secret, the daemon's socket, how often.
func startByAccount(_ words: [String]) async throws {
  let count = Int(words[5]) ?? 50
  try await withTemporaryFolder { folder in
    var starts: [String: [Double]] = [:]
    for number in 0..<count {
      // In turn, so that whatever else the machine does meets both.
      for (name, place) in [("with", PlatformAccountPlace.socket(words[4])), ("without", .none)] {
        let enabler = try enabler(words, place, "\(folder)/\(name)-\(number)")
        let begun = ContinuousClock.now
        try await enabler.configure(requestor: words[1])
        let signIn = await enabler.currentSignIn()
        starts[name, default: []].append(milliseconds(since: begun))
        guard (signIn?.source == .platform) == (name == "with") else {
          print("the app is \(signIn == nil ? "not " : "")in \(name) the box's account")
          exit(1)
        }
      }
    }
    let enabler = try enabler(words, .socket(words[4]), "\(folder)/checks")
    try await enabler.configure(requestor: words[1])
    var checks: [Double] = []
    for _ in 0..<(count * 40) {
      let begun = ContinuousClock.now
      guard await enabler.currentSignIn() != nil else { exit(1) }
      checks.append(milliseconds(since: begun))
    }
    print(
      "app start to signed in: \(figures(starts["with"] ?? [])); without an account: \(figures(starts["without"] ?? []))"
    )
    print("checkAuthentication: \(figures(checks))")
  }
}

private func enabler(_ words: [String], _ place: PlatformAccountPlace, _ folder: String) throws -> AccessEnabler {
  var configuration = EnablerConfiguration(
    credentials: .keyPair(publicKey: words[2], secret: Secret(words[3])), services: [words[0]],
    storage: .folder(folder))
  configuration.platformAccount = place
  return try AccessEnabler(configuration)
}

private func milliseconds(since begun: ContinuousClock.Instant) -> Double {
  let span = (ContinuousClock.now - begun).components
  return Double(span.seconds) * 1_000 + Double(span.attoseconds) / 1e15
}

private func figures(_ times: [Double]) -> String {
  let sorted = times.sorted()
  func at(_ share: Double) -> Double {
    let place = min(sorted.count - 1, Int(Double(sorted.count) * share))
    return sorted.isEmpty ? 0 : (sorted[place] * 100).rounded() / 100
  }
  return "median \(at(0.5)) ms, p99 \(at(0.99)) ms"
}
