// SequenceFuzz: plays random stories of boxes, phones and operators to a whole service on a real database. The memory
// store with `PairingFlow` is the oracle. `--seconds` plays one story after another, `--acts` one story of that length.
// `--fault` plants a fault that must be found. `--self-test`, which `make check` runs, plays one story without a fault
// and one for each fault.

internal import Glibc
internal import TestSupport

let arguments = Array(CommandLine.arguments.dropFirst())
let usage = """
  usage: SequenceFuzz [--seed N] [--acts N | --seconds N] [--fault lease|redeemed|withdrawal] | --self-test [--acts N]
  exit codes: 0 no difference, 1 a difference (with --self-test also a fault that was not found), 2 wrong usage
  """

func say(_ sentence: String) {
  let bytes = Array("\(sentence)\n".utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

func option(_ name: String) -> String? {
  guard let position = arguments.firstIndex(of: name), position + 1 < arguments.count else { return nil }
  return arguments[position + 1]
}

func number(_ name: String) -> Int? {
  guard let text = option(name) else { return nil }
  if let number = Int(text), number > 0 { return number }
  say("SequenceFuzz: \(name) takes a number of at least 1\n\(usage)")
  exit(2)
}

let fault = option("--fault").map { text in
  guard let fault = PlantedFault(rawValue: text) else {
    say("SequenceFuzz: there is no fault \(text)\n\(usage)")
    exit(2)
  }
  return fault
}
let seed = UInt64(number("--seed") ?? Int.random(in: 1..<1_000_000_000))
let acts = number("--acts")
if arguments.contains("--help") {
  say(usage)
} else if arguments.contains("--self-test") {
  exit(await selfTest(acts: acts ?? 4_000) ? 0 : 1)
} else if let seconds = number("--seconds") {
  exit(await play(for: seconds, from: seed, fault) ? 0 : 1)
} else {
  exit(await tell(Story(seed: seed, acts: acts ?? 4_000, fault: fault)).difference == nil ? 0 : 1)
}
