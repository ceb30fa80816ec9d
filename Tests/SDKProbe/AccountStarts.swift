import AccessEnabler
import Glibc
import RegentCryptography
import TestSupport

/// Measures how long an app takes from its start until it is signed in, with the box's account and with a sign-in of
/// its own, and how long `currentSignIn` takes.
///
/// Prints medians and 99th percentiles in milliseconds. The first start has a store with nothing but the device id:
/// the SDK exchanges the box's account, or asks the service, which knows the device, for its sign-in. A later start
/// finds its sign-in in the store. `account.py` reads the device ids, signs the devices in at the service and sends a
/// line.
///
/// Arguments: service, requestor, public key, secret, the daemon's socket, number of starts.
func startByAccount(_ words: [String]) async throws {
  let count = Int(words[5]) ?? 50
  try await withTemporaryFolder { folder in
    for number in 0..<count {
      print(try enabler(words, .none, "\(folder)/own-\(number)").deviceID)
      // The same conditions for all: each store gets its device id before the measurement.
      for other in ["account", "nobody"] { _ = try enabler(words, .none, "\(folder)/\(other)-\(number)").deviceID }
    }
    print("devices")
    fflush(nil)
    _ = readLine()
    // The three ways take turns, so that other load on the machine affects all of them.
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

/// Starts an app once, and prints the statuses that it gets and then its sign-in, a line each.
///
/// Arguments: the store's folder, service, requestor, public key, secret, the daemon's socket.
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

/// Starts an app, checks the source of its sign-in, and returns the milliseconds that it took.
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

func enabler(_ words: [String], _ place: PlatformAccountPlace, _ folder: String) throws -> AccessEnabler {
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
