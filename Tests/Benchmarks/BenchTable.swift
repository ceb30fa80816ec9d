// Benchmarks: the figures Regent holds itself to, each beside its reference and as a ratio taken in one run, because
// absolute times differ from machine to machine and from minute to minute. Nobody lowers a bar.

internal import Glibc

/// One line of the table: a figure of ours, the reference's, and what the comparison must reach.
struct Row {
  /// The name that `--only` selects: the part before the colon names the group.
  let name: String
  /// What the two figures are, with their unit.
  let unit: String
  let bar: Bar
  let measure: () throws -> Measurement
}

/// What a comparison must reach.
enum Bar {
  /// reference ÷ ours: how many times less we use.
  case referenceOverOurs(atLeast: Double)
  /// ours ÷ reference: how much we reach of what the reference does.
  case oursOverReference(atLeast: Double)
  /// ours ÷ reference, where less is better.
  case growth(atMost: Double)
  /// Our figure alone.
  case ours(atMost: Double)
}

/// Two figures taken in turn in the same run.
struct Measurement {
  let ours: Double
  let reference: Double?
  /// What else was seen, shown under the table.
  var note = ""
}

/// Runs the rows and prints the table; false when a bar was missed.
func runTable(_ rows: [Row]) -> Bool {
  var held = 0
  var missed = 0
  var notes: [String] = []
  print(line("name", "ours", "reference", "ratio", "bar", ""))
  for row in rows {
    // Progress on standard error: a row takes up to a minute.
    note("… \(row.name)\n")
    do {
      let measurement = try row.measure()
      let ratio = row.bar.ratio(measurement)
      let holds = row.bar.holds(ratio)
      if holds { held += 1 } else { missed += 1 }
      print(
        line(
          row.name, "\(text(measurement.ours)) \(row.unit)",
          measurement.reference.map { "\(text($0)) \(row.unit)" } ?? "-", text(ratio),
          row.bar.description, holds ? "held" : "MISSED"))
      if !measurement.note.isEmpty { notes.append("\(row.name): \(measurement.note)") }
    } catch {
      missed += 1
      print(line(row.name, "-", "-", "-", row.bar.description, "FAILED"))
      notes.append("\(row.name): \(error)")
    }
    fflush(nil)
  }
  for note in notes { print("  \(note)") }
  print("\(held) bars held, \(missed) missed")
  return missed == 0
}

extension Bar {
  func ratio(_ measurement: Measurement) -> Double {
    let reference = measurement.reference ?? 1
    switch self {
    case .referenceOverOurs: return reference / measurement.ours
    case .oursOverReference, .growth: return measurement.ours / reference
    case .ours: return measurement.ours
    }
  }

  func holds(_ ratio: Double) -> Bool {
    switch self {
    case .referenceOverOurs(let bar), .oursOverReference(let bar): return ratio >= bar
    case .growth(let bar), .ours(let bar): return ratio <= bar
    }
  }

  var description: String {
    switch self {
    case .referenceOverOurs(let bar), .oursOverReference(let bar): return "≥ \(text(bar))"
    case .growth(let bar), .ours(let bar): return "≤ \(text(bar))"
    }
  }
}

/// The middle value; benchmarks quote it because one slow run must not decide.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Three significant digits, plain.
func text(_ value: Double) -> String {
  guard value.isFinite else { return "-" }
  if value >= 100 { return "\(Int(value.rounded()))" }
  let scale: Double = value >= 10 ? 10 : 100
  let scaled = Int((value * scale).rounded())
  let digits = scale == 10 ? 1 : 2
  let fraction = String(scaled % Int(scale))
  return
    "\(scaled / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}

func note(_ sentence: String) {
  let bytes = Array(sentence.utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}

private func line(_ columns: String...) -> String {
  let widths = [44, 22, 22, 8, 8, 6]
  return zip(columns, widths).map { column, width in
    column + String(repeating: " ", count: max(1, width - column.count))
  }.joined()
}
