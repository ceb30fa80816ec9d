import Testing

/// Calls that one file of the service makes and no other: whoever changes codes, sign-ins, decisions or keys past their
/// owner leaves the memory, the held polls, the numbers and the audit log behind.
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

@Suite("Codes and sign-ins have one owner each")
struct OwnerTests {
  @Test func `nobody but its owner calls a verb that memory has to follow`() throws {
    let files = try swiftFiles(below: "Sources").filter { $0.target == "PairingService" }
    for (owner, calls) in ownedCalls {
      for file in files {
        // Without blanks, so that a call which goes over two lines is seen, too.
        let code = file.codeLines.joined().filter { !$0.isWhitespace }
        for call in calls {
          #expect(code.contains(call) == (file.path == owner), "\(call)…) in \(file.path)")
        }
      }
    }
  }
}
