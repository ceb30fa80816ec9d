import Glibc
import RegentPlatform

/// Resolves a host to numeric addresses, by a deadline.
///
/// libpq would resolve the name itself and block for as long as the name servers take. Here a separate thread resolves
/// the name. After the deadline the thread is left to end by itself.
func addresses(of host: ConnectionSettings.Host, by deadline: Deadline) throws(PostgreSQLError) -> [String] {
  // libpq uses socket paths and numeric addresses without a lookup.
  if host.isSocket { return [""] }
  if HostLookup.isLocalhost(host.name) { return ["127.0.0.1", "::1"] }
  let answer = LookupAnswer()
  let name = host.name
  do throws(SystemError) {
    let wakeUp = try SharedWakeUp()
    try DedicatedThread.start(named: "look-up") {
      answer.found.withLock { $0 = lookUp(name) }
      wakeUp.event.signal()
    }
    _ = deadline.wait(for: POLLIN, on: wakeUp.event.number)
  } catch {
    throw PostgreSQLError(.unreachable, "\(error)", hint: error.hint)
  }
  switch answer.found.withLock({ $0 }) {
  case nil: throw PostgreSQLError(.unreachable, "the name of the database's host was not found in time")
  case .some(let found) where found.isEmpty:
    throw PostgreSQLError(
      .unreachable, "the database's host \(name) has no address", hint: "check the name: getent hosts \(name)")
  case .some(let found): return found
  }
}

private final class LookupAnswer: Sendable {
  let found = Locked<[String]?>(nil)
}

/// A wake-up descriptor that stays open for as long as the thread's closure refers to it.
private final class SharedWakeUp: Sendable {
  let event: WakeUp

  init() throws(SystemError) { event = try WakeUp() }
}

private func lookUp(_ name: String) -> [String] {
  let found = (try? HostLookup.addresses(of: name).get()) ?? []
  return found.compactMap(\.numericHost).reduce(into: []) { texts, text in
    if !texts.contains(text) { texts.append(text) }
  }
}
