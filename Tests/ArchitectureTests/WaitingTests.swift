import Testing

/// A test that waits says for what, and gives up: `eventually` and `awaiting` of TestSupport do both.
///
/// Whatever waits in another way hangs when the event is lost, or is red on a busy machine.
@Suite("Every wait has a limit")
struct WaitingTests {
  /// What waits, or lets others run until something has happened, without an end.
  private static let endless = [
    "Task.sleep", "Task.yield", "usleep(", "sleep(", "nanosleep(", "withCheckedContinuation",
    "withCheckedThrowingContinuation", "withUnsafeContinuation", "withUnsafeThrowingContinuation",
    "DispatchSemaphore", "pthread_cond_wait", "waitUntilExit",
  ]

  /// What reads the clock: no test may be red because something took long.
  private static let clocks = [
    "ContinuousClock", "SuspendingClock", "bootNanoseconds", "monotonicMicroseconds", "clock_gettime", "timeLimit",
  ]

  /// Files that may use one of these words, or `pass(milliseconds:)`, each with its reason.
  private static let exceptions: [(file: String, words: [String], reason: String)] = [
    ("TestSupport/Waiting.swift", endless + clocks + ["pass("], "it is the one place"),
    (
      "TestSupport/RunProgram.swift", ["waitpid("],
      "a killed program ends at once, and is looked for every few milliseconds before"
    ),
    (
      "RegentCryptographyTests/RandomTests.swift", ["waitpid("],
      "a child of a fork that draws 32 bytes and ends, at the latest by its alarm"
    ),
    ("DeviceAgentTests/BoxTroubleTests.swift", ["pass("], "in the pause between two codes no second one may come"),
    ("RegentHTTPClientTests/DeadlineTests.swift", ["pass("], "a server that drips"),
    ("AccessEnablerTests/Service/FaultTests.swift", ["pass("], "a server that drips"),
    ("RegentPlatformTests/ThreadAndPollerTests.swift", ["pass("], "a time in which join must not return"),
    ("PairingStorePostgreSQLTests/ChangeListenerTests.swift", ["pass("], "a time in which no bell may ring"),
    ("PairingStorePostgreSQLTests/NewsTests+Nonces.swift", ["pass("], "nonces that are used one after the other"),
    ("AccessEnablerTests/Service/RepeatTests.swift", ["pass("], "a service is away while somebody asks"),
    ("CommandTests/CutShortTests.swift", ["pass("], "the moment of a kill"),
    (
      "CommandTests/ReverseProxyTests.swift", ["pass("],
      "nothing may change for a while, in which a proxy sees that no node is ready"
    ),
    ("Soak/KillSoak.swift", ["pass("], "the moment of a kill"),
    ("ServiceSoak/ServiceSoak.swift", ["pass("], "the moment of a kill"),
    ("SDKProbe/Exits.swift", ["pass("], "the moment of an exit"),
    ("SequenceFuzz/Story.swift", ["ContinuousClock"], "how long stories are played is an option of the program"),
    (
      "HTTPTestSupport/OffPool.swift", ["withCheckedContinuation"],
      "what runs off the pool blocks, and has limits of its own"
    ),
    (
      "RegentHTTPClientTests/TLSTests.swift", ["bootNanoseconds"],
      "a round that took longer than libcurl keeps a connection says nothing"
    ),
    (
      "HTTPServerTests/DescriptorTests.swift", ["pass(", "bootNanoseconds"],
      "how often something happens is compared with the time it had for it"
    ),
    (
      "AccessEnablerTests/Service/ToTheLetterRowTests.swift", ["pass("],
      "a delegate that sleeps is what is tested; a gate that the test opens is its end"
    ),
    (
      "DeviceAgentTests/DecisionSyncTests.swift", ["withCheckedContinuation"],
      "a service that holds its answer; the test's end lets it go"
    ),
    (
      "SDKProbe/AccountStarts.swift", ["ContinuousClock"],
      "figures for the acceptance script, which no test compares"
    ),
    (
      "PairingStoreMemory/MemoryStore+Nodes.swift", ["ContinuousClock", "Task.sleep", "sleep("],
      "a look at the log of changes lasts as long as who looks says"
    ),
    (
      "CommandTests/MoveTests.swift", ["sleep("],
      "a server holds a table for as long as the test does not end its connection"
    ),
    (
      "PairingStoreSQLiteTests/SharedTransactionTests.swift", ["pass("],
      "two changes that are to meet in one transaction; the answer is the same when they do not"
    ),
    (
      "JourneyTests/OAuthOracleTests.swift", ["ContinuousClock"],
      "the quickest of hundreds of refusals is compared with the quickest of others between them"
    ),
    (
      "CommandTests/NodeProgramTests.swift", ["ContinuousClock"],
      "the five seconds that the help promises, which a service manager counts"
    ),
    (
      "RegentPlatformTests/ServiceTests.swift", ["monotonicMicroseconds"],
      "the time that systemd is told lies between two readings"
    ),
  ]

  /// These measure, draw or sit still by profession; tests run them with a limit.
  private static let programs: Set = [
    "Benchmarks", "PlatformProbe", "PagePreview", "Fuzz", "ArchitectureTests", "Scale",
  ]

  @Test func `nothing in the tests waits but through TestSupport`() throws {
    for file in try swiftFiles(below: "Tests") where !Self.programs.contains(file.target) {
      for found in Self.waits(in: file) { Issue.record("\(file.path):\(found.line) \(found.word)") }
    }
  }

  @Test func `every exception is used`() throws {
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
  func `a wait of one's own is found`(line: String) {
    let file = SourceFile(path: "Tests/XTests/X.swift", target: "XTests", lines: [line[...]])
    #expect(Self.waits(in: file).count == 1)
  }

  @Test(arguments: [
    "try await eventually(\"a reply\") { waiters.count == 1 }", "// while true { usleep(5) }",
    "for await isRight in group { #expect(isRight) }", "time.sleep(0.5)", "func pass(of provider: String) {",
    "for try await status in group { #expect(status == .ok) }", "while let entry = readdir(folder) {",
  ])
  func `and nothing else is`(line: String) {
    let file = SourceFile(path: "Tests/XTests/X.swift", target: "XTests", lines: [line[...]])
    #expect(Self.waits(in: file).isEmpty)
  }

  private static func waits(in file: SourceFile) -> [(line: Int, word: String)] {
    let allowed = exceptions.filter { file.path == "Tests/\($0.file)" }.flatMap(\.words)
    let words = (endless + clocks + ["pass(milliseconds", "waitpid("]).filter { word in
      !allowed.contains { word.hasPrefix($0) }
    }
    return file.codeLines.enumerated().flatMap { number, line in
      // Python's, in a script that a test writes.
      let line = String(line.replacing("time.sleep", with: ""))
      var found = words.filter { line.contains($0) }
      // Where one of the words is part of another, one of them is enough.
      if found.count > 1 { found = [found[0]] }
      if isEmptyLoop(line) { found.append("a loop that does nothing") }
      if isEndlessStream(line, file) { found.append("for await of something that may never come") }
      return found.map { (number + 1, $0) }
    }
  }

  /// `while … {}` burns a core until something has happened.
  private static func isEmptyLoop(_ line: String) -> Bool {
    let words = line.drop { $0 == " " }
    // What the loop calls may be all it has to do: a server that sends until its client is gone.
    return words.hasPrefix("while ") && words.hasSuffix("{}") && words.contains(".load(")
  }

  /// A group's tasks end, each with a limit of its own; a stream may never bring anything.
  private static func isEndlessStream(_ line: String, _ file: SourceFile) -> Bool {
    guard let stream = line.firstMatch(of: /for (?:try )?await .* in ([\w.]+)/) else { return false }
    return stream.output.1 != "group" && !file.path.hasSuffix("TestSupport/Waiting.swift")
      // Within the limit of `awaiting`.
      && !line.contains("awaiting(")
  }
}
