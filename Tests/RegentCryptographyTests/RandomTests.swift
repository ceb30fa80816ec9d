import Glibc
import Testing

@testable import RegentCryptography

@Suite struct `random bytes` {
  @Test func `none is handed out twice, whatever is asked for`() {
    var seen = Set<[UInt8]>()
    for round in 0..<2000 {
      let bytes = Random.bytes(8 + round % 40)
      // Eight bytes are the same by chance once in a few hundred thousand million runs.
      #expect(seen.insert(Array(bytes.prefix(8))).inserted)
      #expect(seen.insert(Array(bytes.suffix(8))).inserted || bytes.count == 8)
    }
  }

  @Test func `a copy of the process draws others than its original`() {
    _ = Random.bytes(16)
    // Swift hides the call; the child writes what it draws and ends.
    guard let address = unsafe dlsym(nil, "fork") else {
      Issue.record("no fork")
      return
    }
    let fork = unsafe unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)
    var ends: [Int32] = [0, 0]
    let made = unsafe pipe(&ends)
    #expect(made == 0)
    let child = fork()
    if child == 0 {
      // Waiting for it has a limit.
      alarm(10)
      let drawn = Random.bytes(32)
      _exit(unsafe write(ends[1], drawn, drawn.count) == drawn.count ? 0 : 1)
    }
    let own = Random.bytes(32)
    var drawn = [UInt8](repeating: 0, count: 32)
    let heard = unsafe read(ends[0], &drawn, drawn.count)
    var status: Int32 = -1
    let ended = unsafe waitpid(child, &status, 0)
    #expect(heard == drawn.count && ended == child && status == 0)
    for end in ends { close(end) }
    #expect(drawn != own && drawn != [UInt8](repeating: 0, count: 32))
  }
}
