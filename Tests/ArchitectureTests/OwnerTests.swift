import Testing

/// Calls that only one file of the service may make.
///
/// A change to codes, sign-ins, decisions or keys that bypasses this file leaves caches, long polls, counters and the
/// audit log out of date.
private let ownedCalls: [(owner: String, calls: [String])] = [
  (
    "Sources/PairingService/Core/SignInTransitions.swift",
    [
      "store.signInWithoutCode(", "store.exchange(", "store.signOut(", "store.revoke(", "store.pickUp(",
      "store.makeRoom(", "store.endGrants(", "store.removeOAuthClient(", "codes.noteSignIn(",
    ]
  ),
  ("Sources/PairingService/Core/BoxDecisions.swift", ["store.decide("]),
  ("Sources/PairingService/Nodes/CodeRefresher.swift", ["codes.learn(", "store.expire("]),
  ("Sources/PairingService/Core/SigningKeys.swift", ["store.retireSigningKey("]),
  (
    "Sources/PairingService/Core/CodeTransitions.swift",
    [
      "store.reserve(", "store.open(", "store.claim(", "store.renew(", "store.release(",
      "store.approve(", "store.deny(", "store.withdraw(", "store.forgetCodes(", "store.endSession(",
      "store.setPassword(",
      "codes.note(",
    ]
  ),
]

@Suite("Owners of store calls")
struct OwnerTests {
  @Test func `a store call that caches depend on is made only by its owner`() throws {
    let files = try swiftFiles(below: "Sources").filter { $0.target == "PairingService" }
    for (owner, calls) in ownedCalls {
      for file in files {
        // Without white space, so that a call over two lines is found, too.
        let code = file.codeLines.joined().filter { !$0.isWhitespace }
        for call in calls {
          #expect(code.contains(call) == (file.path == owner), "\(call)…) in \(file.path)")
        }
      }
    }
  }
}
