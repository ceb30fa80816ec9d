import Glibc
import RegentPlatform

/// Runs tasks that count, sleep, are cancelled and block, and prints the results.
func tryTasks() async {
  let counter = Counter()
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<1_000 { group.addTask { await counter.count() } }
  }
  say("counted \(await counter.value)")

  // A distant alarm must not delay a near one, and an alarm that is set later may fire first.
  let sleeper = Task { try await Task.sleep(for: .seconds(3_600)) }
  let later = Task {
    try? await Task.sleep(for: .milliseconds(500))
    say("woke second")
  }
  for _ in 0..<3 { try? await Task.sleep(for: .milliseconds(20)) }
  say("woke first")
  await later.value
  sleeper.cancel()
  let isCancelled = if case .failure = await sleeper.result { true } else { false }
  say("cancelled \(isCancelled)")

  // One thread blocks in a system call. The other must go on and unblock it.
  var ends: [CInt] = [0, 0]
  unsafe pipe(&ends)
  let (reading, writing) = (ends[0], ends[1])
  let blocked = Task {
    var byte: UInt8 = 0
    return unsafe read(reading, &byte, 1)
  }
  let other = Task {
    try? await Task.sleep(for: .milliseconds(20))
    return unsafe write(writing, "x", 1)
  }
  say("unblocked \(await blocked.value + other.value)")

  say("threads \(threadNames().sorted())")
}

private actor Counter {
  var value = 0
  func count() { value += 1 }
}

private func threadNames() -> [String] {
  guard let folder = unsafe opendir("/proc/self/task") else { return [] }
  defer { unsafe closedir(folder) }
  var names: [String] = []
  while let entry = unsafe readdir(folder) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
      unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
    }
    guard !name.hasPrefix(".") else { continue }
    names.append((try? text(of: "/proc/self/task/\(name)/comm"))?.dropLast().description ?? "?")
  }
  return names
}
