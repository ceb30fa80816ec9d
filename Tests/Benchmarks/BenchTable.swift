// Benchmarks: the performance figures that Regent must reach. Each is measured in the same run as a reference and
// compared as a ratio, because absolute times differ between machines and between minutes. Never lower a bar to make a
// row pass.

internal import Glibc

/// One line of the table: what is measured, and the ratio that it must reach.
struct Row {
  /// The name that `--only` selects; the part before the colon is the group.
  let name: String
  /// The unit of both figures.
  let unit: String
  let bar: Bar
  let measure: () throws -> Measurement
}

/// The limit that a comparison must keep.
enum Bar {
  /// reference ÷ ours: how many times less we use.
  case referenceOverOurs(atLeast: Double)
  /// ours ÷ reference: the part of the reference's figure that we reach.
  case oursOverReference(atLeast: Double)
  /// ours ÷ reference, where a smaller figure is better.
  case growth(atMost: Double)
  /// Our figure without a reference.
  case ours(atMost: Double)
}

/// Two figures that were measured in turn in the same run.
struct Measurement {
  let ours: Double
  let reference: Double?
  /// Details that are printed under the table.
  ///
  /// What else was seen, shown under the table.
  var note = ""
}

/// Runs the rows and prints the table.
///
/// Returns false when a row missed its bar or failed.
func runTable(_ rows: [Row]) -> Bool {
  var held = 0
  var missed = 0
  var notes: [String] = []
  print(line("name", "ours", "reference", "ratio", "bar", ""))
  for row in rows {
    // Progress goes to standard error, because a row takes up to a minute.
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

/// The median; benchmarks report it so that a single slow run does not decide.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Formats a number with three significant digits, without an exponent.
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
