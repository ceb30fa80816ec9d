import AccessEnabler
import Glibc
import RegentCryptography
import TestSupport

/// Says how long an app takes from its start to signed in, by the box's account and by a sign-in of its own, and how
/// long the question takes who is signed in: medians and 99th percentiles, in milliseconds.
///
/// The first start is one with a store that has nothing but the device's id: the account is exchanged, or the
/// service, which knows the device, is asked for its sign-in. A later one finds its sign-in kept. `account.py` reads
/// the devices' ids, signs them in at the service and sends a line.
///
/// Words: service, requestor, public key, secret, the daemon's socket, how often.
func startByAccount(_ words: [String]) async throws {
  let count = Int(words[5]) ?? 50
  try await withTemporaryFolder { folder in
    for number in 0..<count {
      print(try enabler(words, .none, "\(folder)/own-\(number)").deviceID)
      // The same start for all: the one that signs in by itself must have its id before, and none makes it meanwhile.
      for other in ["account", "nobody"] { _ = try enabler(words, .none, "\(folder)/\(other)-\(number)").deviceID }
    }
    print("devices")
    fflush(nil)
    _ = readLine()
    // In turn, so that whatever else the machine does meets all.
    let ways: [(name: String, place: PlatformAccountPlace, source: SignIn.Source?)] = [
      ("account", .socket(words[4]), .platform), ("own", .none, .regular), ("nobody", .none, nil),
    ]
    var first: [String: [Double]] = [:]
    var later: [String: [Double]] = [:]
    for number in 0..<count {
      for way in ways {
        let place = "\(folder)/\(way.name)-\(number)"
        first[way.name, default: []].append(try await start(enabler(words, way.place, place), words[1], way.source))
      }
      for way in ways {
        let place = "\(folder)/\(way.name)-\(number)"
        later[way.name, default: []].append(try await start(enabler(words, way.place, place), words[1], way.source))
      }
    }
    for (name, starts) in [("first", first), ("later", later)] {
      let (account, own) = (starts["account"] ?? [], starts["own"] ?? [])
      let times = ((at(0.5, account) / at(0.5, own)) * 100).rounded() / 100
      print(
        "\(name) start, in by the box's account: \(figures(account)); by a sign-in of its own: \(figures(own)), "
          + "\(times) times (bar 2); nobody in: \(figures(starts["nobody"] ?? []))")
    }
    let enabler = try enabler(words, .socket(words[4]), "\(folder)/checks")
    try await enabler.configure(requestor: words[1])
    var checks: [Double] = []
    for _ in 0..<(count * 40) {
      let begun = ContinuousClock.now
      guard await enabler.currentSignIn() != nil else { exit(1) }
      checks.append(milliseconds(since: begun))
    }
    print("checkAuthentication: \(figures(checks))")
  }
}

/// Starts an app once, and says what it is told at that and whether it is in, a line each.
///
/// Words: the store's folder, service, requestor, public key, secret, the daemon's socket.
func startOnce(_ words: [String]) async throws {
  let enabler = try enabler(Array(words[1...4]), .socket(words[5]), words[0])
  let events = enabler.events
  enabler.setRequestor(words[2])
  _ = try await events.first("the end of the start") { event -> Bool? in
    switch event {
    case .status(let status):
      print("status \(status.id.rawValue)")
      return nil
    case .setRequestorComplete: return true
    default: return nil
    }
  }
  let signIn = await enabler.currentSignIn()
  print(signIn.map { "in \($0.source.rawValue) \($0.provider.id)" } ?? "out")
}

/// Starts an app, which must come in as it is to, and says how long that took.
private func start(_ enabler: AccessEnabler, _ requestor: String, _ source: SignIn.Source?) async throws -> Double {
  let begun = ContinuousClock.now
  try await enabler.configure(requestor: requestor)
  let signIn = await enabler.currentSignIn()
  let took = milliseconds(since: begun)
  guard signIn?.source == source else {
    print("the app is in by \(signIn?.source.rawValue ?? "nothing"), not by \(source?.rawValue ?? "nothing")")
    exit(1)
  }
  return took
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
  "median \((at(0.5, times) * 100).rounded() / 100) ms, p99 \((at(0.99, times) * 100).rounded() / 100) ms"
}

private func at(_ share: Double, _ times: [Double]) -> Double {
  let sorted = times.sorted()
  return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
}
