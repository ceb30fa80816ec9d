internal import Administration
internal import RegentHTTPClient
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPlatform

/// What one box requested, and what the service acknowledged.
struct Entry: Sendable {
  enum Approval: Sendable {
    case none, sent, acknowledged
  }

  /// Its code, once the service has acknowledged it.
  var code: String?
  var approval = Approval.none
  /// The document of its sign-in, once it was delivered.
  var signIn: String?
}

/// Everything that was acknowledged with one database.
final class Ledger: Sendable {
  private let entries = Locked([String: Entry]())
  private let fresh = Locked(Set<String>())
  private let numbers = Locked(0)

  func newDevice() -> String {
    let number = numbers.withLock { number in
      number += 1
      return number
    }
    return "box-\(number)"
  }

  func note(_ device: String, _ change: (inout Entry) -> Void) {
    entries.withLock { change(&$0[device, default: Entry()]) }
    _ = fresh.withLock { $0.insert(device) }
  }

  /// Returns the boxes with changes since the last inspection, and some older ones.
  func takeForInspection() -> [(String, Entry)] {
    let touched = fresh.withLock { fresh in
      defer { fresh = [] }
      return fresh
    }
    return entries.withLock { entries in
      let older = entries.keys.shuffled().prefix(20)
      return touched.union(older).compactMap { device in entries[device].map { (device, $0) } }
    }
  }

  /// The documents of all delivered sign-ins.
  func signIns() -> [String: String] {
    entries.withLock { $0.compactMapValues(\.signIn) }
  }

  func count(_ isMeant: (Entry) -> Bool) -> Int {
    entries.withLock { $0.values.count(where: isMeant) }
  }
}

/// Plays boxes one after another: each gets a code and polls, and two of three are approved.
struct Worker {
  let calls: Calls
  let ledger: Ledger

  /// Continues until the service is killed.
  ///
  /// - Returns: whether a change was awaiting its response then.
  func run() async throws -> Bool {
    var isChanging = false
    do {
      while true {
        let device = ledger.newDevice()
        isChanging = true
        let code = try await create(device)
        isChanging = false
        guard try await calls.poll(device) == nil else {
          throw Surprise(description: "a box was signed in before the approval")
        }
        guard Int.random(in: 0..<3) > 0 else { continue }
        ledger.note(device) { $0.approval = .sent }
        isChanging = true
        try await calls.approve(code)
        ledger.note(device) { $0.approval = .acknowledged }
        isChanging = false
        let signIn = try await calls.poll(device)
        guard signIn != nil else { throw Surprise(description: "approved, but the box is not signed in") }
        ledger.note(device) { $0.signIn = signIn }
      }
    } catch is ClientError {
      return isChanging
    } catch let error as AdminError where error.code != .refused {
      return isChanging
    }
  }

  private func create(_ device: String) async throws -> String {
    let answer = try await calls.send(
      .post, "/reggie/v1/REF30/regcode.json", "?ttl=36000&deviceId=\(device)")
    guard answer.status == .created, let record = try JSONValue(reading: answer.body).object else {
      throw Surprise(description: "create: \(answer.status)")
    }
    let code = try record.string("code")
    ledger.note(device) { $0.code = code }
    return code
  }
}

/// Checks that everything which was acknowledged is still there.
struct Inspection {
  let calls: Calls
  let ledger: Ledger

  /// - Returns: what was lost, as sentences.
  func run() async -> [String] {
    var losses: [String] = []
    for (device, entry) in ledger.takeForInspection() {
      guard let code = entry.code else { continue }
      do {
        if let loss = try await look(device, code, entry) { losses.append("\(device): \(loss)") }
      } catch {
        losses.append("\(device) (\(code), \(entry.approval)): \(error)")
      }
    }
    return losses
  }

  private func look(_ device: String, _ code: String, _ entry: Entry) async throws -> String? {
    let state = try await calls.state(code)
    let isIn = state == "approved" || state == "delivered"
    switch entry.approval {
    case .none:
      return state == "offered" ? nil : "\(state) without an approval"
    case .sent:
      // The kill came before or after the commit. Approving the code now must succeed if it was before, and only then.
      if try await approves(code) == isIn {
        return "\(state), and a second approval gave the same result"
      }
      ledger.note(device) { $0.approval = .acknowledged }
    case .acknowledged:
      guard isIn else { return "an acknowledged approval was lost: \(state)" }
      if try await approves(code) { return "approved twice" }
    }
    guard let signIn = try await calls.poll(device) else { return "approved, but the box is not signed in" }
    if let earlier = entry.signIn, earlier != signIn { return "a different sign-in than before" }
    ledger.note(device) { $0.signIn = signIn }
    return nil
  }

  /// Tries to approve a code; returns false when the service refuses it.
  private func approves(_ code: String) async throws -> Bool {
    do {
      try await calls.approve(code)
      return true
    } catch let error as AdminError where error.code == .refused {
      return false
    }
  }
}
