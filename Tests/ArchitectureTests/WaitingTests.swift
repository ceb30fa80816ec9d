import Testing

/// A test waits with `eventually` or `awaiting` of TestSupport, which name the event and give up after a time.
///
/// A test that waits in another way hangs if the event is lost, or fails on a busy machine.
@Suite("Waiting in tests")
struct WaitingTests {
  /// Calls that wait without a limit or a named event.
  private static let endless = [
    "Task.sleep", "Task.yield", "usleep(", "sleep(", "nanosleep(", "withCheckedContinuation",
    "withCheckedThrowingContinuation", "withUnsafeContinuation", "withUnsafeThrowingContinuation",
    "DispatchSemaphore", "pthread_cond_wait", "waitUntilExit",
  ]

  /// Calls that read a clock.
  ///
  /// No test may fail because something took long.
  private static let clocks = [
    "ContinuousClock", "SuspendingClock", "bootNanoseconds", "monotonicMicroseconds", "clock_gettime", "timeLimit",
  ]

  /// Files that may use these words or `pass(milliseconds:)`, with the reason.
  private static let exceptions: [(file: String, words: [String], reason: String)] = [
    ("TestSupport/Waiting.swift", endless + clocks + ["pass("], "the functions that all other tests use"),
    (
      "TestSupport/RunProgram.swift", ["waitpid("],
      "a killed program ends at once, and is polled before"
    ),
    (
      "RegentCryptographyTests/RandomTests.swift", ["waitpid("],
      "a forked child that draws 32 bytes and exits, at the latest by its alarm"
    ),
    (
      "DeviceAgentTests/BoxTroubleTests.swift", ["pass("],
      "during the pause between two codes the box must not show a second one"
    ),
    ("RegentHTTPClientTests/DeadlineTests.swift", ["pass("], "a server that drips"),
    ("AccessEnablerTests/Service/FaultTests.swift", ["pass("], "a server that drips"),
    ("RegentPlatformTests/ThreadAndPollerTests.swift", ["pass("], "a time during which join must not return"),
    (
      "PairingStorePostgreSQLTests/ChangeListenerTests.swift", ["pass("],
      "a pause after which the store tries to listen again"
    ),
    ("PairingStorePostgreSQLTests/NewsTests+Nonces.swift", ["pass("], "a pause between two nonces"),
    ("AccessEnablerTests/Service/RepeatTests.swift", ["pass("], "a service that is unreachable during a call"),
    ("CommandTests/CutShortTests.swift", ["pass("], "the moment of a kill"),
    (
      "CommandTests/ReverseProxyTests.swift", ["pass("],
      "a time during which the proxy must find no ready node"
    ),
    ("Soak/KillSoak.swift", ["pass("], "the moment of a kill"),
    ("ServiceSoak/ServiceSoak.swift", ["pass("], "the moment of a kill"),
    ("SDKProbe/Exits.swift", ["pass("], "the moment of an exit"),
    ("SequenceFuzz/Story.swift", ["ContinuousClock"], "the duration is an option of the program"),
    (
      "HTTPTestSupport/OffPool.swift", ["withCheckedContinuation"],
      "the blocking work has its own limits"
    ),
    (
      "RegentHTTPClientTests/TLSTests.swift", ["bootNanoseconds"],
      "a round that took longer than libcurl keeps a connection is repeated"
    ),
    (
      "RegentHTTPClientTests/DeadlineTests.swift", ["bootNanoseconds"],
      "a limit of 0.3 seconds must end the call before the ten seconds of another limit"
    ),
    (
      "HTTPServerTests/DescriptorTests.swift", ["pass(", "bootNanoseconds"],
      "the number of pauses is compared with the time that passed"
    ),
    (
      "AccessEnablerTests/Service/ToTheLetterRowTests.swift", ["pass("],
      "the test needs a delegate that sleeps, until the test opens its gate"
    ),
    (
      "DeviceAgentTests/DecisionSyncTests.swift", ["withCheckedContinuation"],
      "a service that holds its response until the test ends"
    ),
    (
      "SDKProbe/DialogApp.swift", ["for await"],
      "a program that lives as long as its standard input"
    ),
    (
      "SDKProbe/AccountStarts.swift", ["ContinuousClock"],
      "figures for the acceptance script, which no test compares"
    ),
    (
      "PairingStoreMemory/MemoryStore+Nodes.swift", ["ContinuousClock", "Task.sleep", "sleep("],
      "a long poll of the change log"
    ),
    (
      "CommandTests/MoveTests.swift", ["sleep("],
      "a server holds a table lock until the test ends the connection"
    ),
    (
      "PairingStoreSQLiteTests/SharedTransactionTests.swift", ["pass("],
      "two changes that should share a transaction; the result is the same if they do not"
    ),
    (
      "JourneyTests/OAuthOracleTests.swift", ["ContinuousClock"],
      "the fastest of hundreds of refusals is compared with the fastest of another kind"
    ),
    (
      "CommandTests/NodeProgramTests.swift", ["ContinuousClock"],
      "the five seconds that the help text promises"
    ),
    (
      "RegentPlatformTests/ServiceTests.swift", ["monotonicMicroseconds"],
      "the time sent to systemd must lie between two readings of the clock"
    ),
  ]

  /// Programs that measure time or wait on purpose.
  ///
  /// Tests run them with a limit.
  private static let programs: Set = [
    "Benchmarks", "PlatformProbe", "PagePreview", "Fuzz", "ArchitectureTests", "Scale",
  ]

  @Test func `tests wait only through TestSupport`() throws {
    for file in try swiftFiles(below: "Tests") where !Self.programs.contains(file.target) {
      for found in Self.waits(in: file) { Issue.record("\(file.path):\(found.line) \(found.word)") }
    }
  }

  @Test func `every listed exception from the rule about waiting is used`() throws {
    let files = try swiftFiles(below: "Tests")
    for exception in Self.exceptions {
      let file = try #require(files.first { $0.path == "Tests/\(exception.file)" }, "\(exception.file)")
      #expect(exception.words.contains { word in file.codeLines.contains { $0.contains(word) } }, "\(exception.file)")
    }
  }

  @Test(arguments: [
    "while !isDone { try await Task.sleep(for: .milliseconds(5)) }", "usleep(20_000)",
    "await withCheckedContinuation { waiting = $0 }", "#expect(ContinuousClock.now - start < .seconds(1))",
    "while queue.isEmpty { await Task.yield() }", "try await pass(milliseconds: 5)",
    "while !flag.load(ordering: .acquiring) {}", "for await code in codes { break }",
    "_ = waitpid(pid, nil, 0)",
  ])
  func `the check for forbidden waiting finds every forbidden way of waiting`(line: String) {
    let file = SourceFile(path: "Tests/XTests/X.swift", target: "XTests", lines: [line[...]])
    #expect(Self.waits(in: file).count == 1)
  }

  @Test(arguments: [
    "try await eventually(\"a reply\") { waiters.count == 1 }", "// while true { usleep(5) }",
    "for await isRight in group { #expect(isRight) }", "time.sleep(0.5)", "func pass(of provider: String) {",
    "for try await status in group { #expect(status == .ok) }", "while let entry = readdir(folder) {",
  ])
  func `the check for forbidden waiting accepts code that does not wait`(line: String) {
    let file = SourceFile(path: "Tests/XTests/X.swift", target: "XTests", lines: [line[...]])
    #expect(Self.waits(in: file).isEmpty)
  }

  private static func waits(in file: SourceFile) -> [(line: Int, word: String)] {
    let allowed = exceptions.filter { file.path == "Tests/\($0.file)" }.flatMap(\.words)
    let words = (endless + clocks + ["pass(milliseconds", "waitpid("]).filter { word in
      !allowed.contains { word.hasPrefix($0) }
    }
    return file.codeLines.enumerated().flatMap { number, line in
      // Remove `time.sleep`, which occurs in Python scripts of tests.
      let line = String(line.replacing("time.sleep", with: ""))
      var found = words.filter { line.contains($0) }
      // If one word is part of another, count the line once.
      if found.count > 1 { found = [found[0]] }
      if isEmptyLoop(line) { found.append("an empty loop") }
      if isEndlessStream(line, file), !allowed.contains("for await") {
        found.append("for await over a stream that may never deliver")
      }
      return found.map { (number + 1, $0) }
    }
  }

  /// A busy loop `while … {}` that waits for a value to change.
  private static func isEmptyLoop(_ line: String) -> Bool {
    let words = line.drop { $0 == " " }
    // A loop whose condition does the work is allowed, such as sending until the client disconnects.
    return words.hasPrefix("while ") && words.hasSuffix("{}") && words.contains(".load(")
  }

  /// The tasks of a group end, because each has its own limit.
  ///
  /// A stream may never deliver.
  private static func isEndlessStream(_ line: String, _ file: SourceFile) -> Bool {
    guard let stream = line.firstMatch(of: /for (?:try )?await .* in ([\w.]+)/) else { return false }
    return stream.output.1 != "group" && !file.path.hasSuffix("TestSupport/Waiting.swift")
      // The limit of `awaiting` applies here.
      && !line.contains("awaiting(")
  }
}
