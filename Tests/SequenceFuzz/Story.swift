internal import Glibc
internal import TestSupport

/// One story: a number of acts drawn from a seed.
struct Story {
  let seed: UInt64
  let acts: Int
  var fault: PlantedFault?

  struct Outcome {
    /// The acts that were played.
    var acts = 0
    /// The acts that the service answered with 429 or 503.
    var refusals = 0
    /// The first difference, with the acts before it.
    var difference: String?
  }

  /// The number of acts that are printed with a difference; the seed repeats all of them.
  private static let told = 20

  func play() async -> Outcome {
    var outcome = Outcome()
    var past: [Act] = []
    do {
      try await withTemporaryFolder { folder in
        let opening = StoreOpening(folder: folder, fault: fault)
        defer { opening.end() }
        var source = ActSource(seed: seed)
        var player = try await Player(opening)
        defer { outcome.refusals = player.refusals }
        for _ in 0..<acts {
          let act = source.next()
          past.append(act)
          try await player.play(act)
          outcome.acts += 1
        }
      }
      // A service that refuses everything would pass every comparison.
      if outcome.refusals * 5 > outcome.acts { outcome.difference = "the service refused more than one act of five" }
    } catch {
      outcome.difference =
        "\(error)\n" + past.suffix(Self.told).map { "    \($0)" }.joined(separator: "\n")
    }
    return outcome
  }
}

/// Plays a story and prints the outcome.
func tell(_ story: Story) async -> Story.Outcome {
  let outcome = await story.play()
  if let difference = outcome.difference {
    say("seed \(story.seed), act \(outcome.acts + 1): \(difference)")
  } else {
    say("seed \(story.seed): \(outcome.acts) acts, \(outcome.refusals) refused by limits, no difference")
  }
  return outcome
}

/// Plays stories with ascending seeds until the time is over or one of them has a difference.
func play(for seconds: Int, from first: UInt64, _ fault: PlantedFault?) async -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  var (seed, acts, stories) = (first, 0, 0)
  while ContinuousClock.now < end {
    let outcome = await Story(seed: seed, acts: 3_000, fault: fault).play()
    (seed, acts, stories) = (seed + 1, acts + outcome.acts, stories + 1)
    guard let difference = outcome.difference else { continue }
    say("seed \(seed - 1), act \(outcome.acts + 1): \(difference)")
    say("to repeat it: SequenceFuzz --seed \(seed - 1) --acts 3000\(fault.map { " --fault \($0.rawValue)" } ?? "")")
    return false
  }
  say("\(stories) stories, \(acts) acts, no difference")
  return true
}

/// Plays a story without a fault, and checks that each planted fault is found within the same number of acts.
func selfTest(acts: Int) async -> Bool {
  var isGood = await tell(Story(seed: 1, acts: acts)).difference == nil
  for fault in PlantedFault.allCases {
    let outcome = await Story(seed: 1, acts: acts, fault: fault).play()
    let isFound = outcome.difference != nil
    say("planted \(fault.rawValue): \(isFound ? "found at act \(outcome.acts + 1)" : "NOT found in \(acts) acts")")
    isGood = isGood && isFound
  }
  return isGood
}
