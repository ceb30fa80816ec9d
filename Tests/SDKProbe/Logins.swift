import Administration
import AccessEnabler
import RegentCryptography
import Glibc
import RegentPairing
import RegentdTestSupport
import ServiceTestSupport
import TestSupport

/// How much the process may grow from the end of the warm-up to the last login, in KiB.
private let bar = 1024

/// Signs in, authorizes and signs out `count` times at a real service.
///
/// Ends the process with status 1 when memory grows.
func signInAgainAndAgain(_ binary: String, _ count: Int) async throws {
  try await withTemporaryFolder { folder in
    // No viewer signs in and out without a pause. The usual rate limits would slow this box down.
    let regentd = try await Regentd(
      binary, in: folder, ["--device-rate", "100000", "--newcomer-rate", "100000"])
    let requestor = Requestor(id: try named(Sample.requestor), name: "Reference")
    let key = try await regentd.add(requestor)
    let enabler = try AccessEnabler(
      EnablerConfiguration(
        credentials: .keyPair(publicKey: key.publicKey.text, secret: Secret(key.secret)),
        services: [regentd.url], storage: .folder("\(folder)/box")))
    // Memory that the first logins allocate for good does not count.
    let warm = min(100, count / 2)
    var early = 0
    for cycle in 1...count {
      try await enabler.configure(requestor: Sample.requestor)
      try await signIn(enabler, regentd)
      _ = try await enabler.preauthorize(["news", "movies"])
      _ = try await enabler.authorize("news")
      try await enabler.signOut()
      if cycle == warm { early = try residentKiB() }
      if cycle % 100 == 0 {
        print("login \(cycle): \(try residentKiB()) KiB")
        fflush(nil)
      }
    }
    let grown = try residentKiB() - early
    print("grown by \(grown) KiB from login \(warm) to \(count)")
    guard grown <= bar else { exit(1) }
  }
}

/// Signs in with a store that other processes may use, and prints the code and the viewer's id, a line each.
func signInOnce(_ words: [String]) async throws {
  let enabler = try AccessEnabler(
    EnablerConfiguration(
      credentials: .keyPair(publicKey: words[3], secret: Secret(words[4])), services: [words[1]],
      storage: .folder(words[0])))
  try await enabler.configure(requestor: words[2])
  let signIn = try await enabler.authenticate(.provider(Sample.provider)) { event in
    guard case .registrationCode(let offer) = event else { return }
    print("code \(offer.code)")
    fflush(nil)
  }
  print("user \(signIn.userID)")
}

/// Signs in again for each line on standard input, and prints the code and the viewer's id, a line each.
func signInForEachLine(_ words: [String]) async throws {
  let enabler = try AccessEnabler(
    EnablerConfiguration(
      credentials: .keyPair(publicKey: words[2], secret: Secret(words[3])), services: [words[0]], storage: .memory))
  try await enabler.configure(requestor: words[1])
  while readLine() != nil {
    let signIn = try await enabler.authenticate(.provider(Sample.provider), isForced: true) { event in
      guard case .registrationCode(let offer) = event else { return }
      print("code \(offer.code)")
      fflush(nil)
    }
    print("user \(signIn.userID)")
    fflush(nil)
  }
}

private func signIn(_ enabler: AccessEnabler, _ regentd: Regentd) async throws {
  let (codes, seen) = AsyncStream<String>.makeStream()
  let phone = Task { try await regentd.approve(try await codes.next("a code")) }
  // Ends the stream, so that the phone does not wait when the sign-in fails without a code.
  defer { seen.finish() }
  _ = try await enabler.authenticate(.provider(Sample.provider)) { event in
    if case .registrationCode(let offer) = event { seen.yield(offer.code) }
  }
  try await phone.value
}

private func residentKiB() throws -> Int {
  let status = String(decoding: try readFile("/proc/self/status"), as: UTF8.self)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
  guard let kib = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
    throw TestSupportError("no VmRSS")
  }
  return kib
}
