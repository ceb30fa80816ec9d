import Administration
import AccessEnabler
import Cryptography
import Glibc
import Pairing
import RegentdTestSupport
import ServiceTestSupport
import TestSupport

/// How much the process may grow from the hundredth login to the last, in KiB.
private let bar = 1024

/// Signs in, authorizes and signs out `count` times at a real service; ends the process with 1 when memory grows.
func signInAgainAndAgain(_ binary: String, _ count: Int) async throws {
  try await withTemporaryFolder { folder in
    let regentd = try await Regentd(binary, in: folder)
    let requestor = Requestor(id: try named(Sample.requestor), name: "Reference")
    let key = try await regentd.add(requestor)
    let enabler = try AccessEnabler(
      EnablerConfiguration(
        credentials: .keyPair(publicKey: key.publicKey.text, secret: Secret(key.secret)),
        services: [regentd.url], storage: .folder("\(folder)/box")))
    var early = 0
    for cycle in 1...count {
      try await enabler.configure(requestor: Sample.requestor)
      try await signIn(enabler, regentd)
      _ = try await enabler.preauthorize(["news", "movies"])
      _ = try await enabler.authorize("news")
      try await enabler.signOut()
      if cycle == 100 { early = try residentKiB() }
      if cycle % 100 == 0 { print("login \(cycle): \(try residentKiB()) KiB") }
    }
    let grown = try residentKiB() - early
    print("grown by \(grown) KiB from login 100 to \(count)")
    guard grown <= bar else { exit(1) }
  }
}

private func signIn(_ enabler: AccessEnabler, _ regentd: Regentd) async throws {
  let (codes, seen) = AsyncStream<String>.makeStream()
  async let signIn = enabler.authenticate(.provider(Sample.provider)) { event in
    if case .registrationCode(let offer) = event { seen.yield(offer.code) }
  }
  for await code in codes {
    try await regentd.approve(code)
    break
  }
  _ = try await signIn
}

private func residentKiB() throws -> Int {
  let status = String(decoding: try readFile("/proc/self/status"), as: UTF8.self)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
  guard let kib = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
    throw TestSupportError("no VmRSS")
  }
  return kib
}
