import Glibc
import Testing

@testable import RegentCryptography

@Suite struct `Random bytes` {
  @Test func `random bytes never repeat, whatever lengths are requested`() {
    var seen = Set<[UInt8]>()
    for round in 0..<2000 {
      let bytes = Random.bytes(8 + round % 40)
      // Two equal random values of eight bytes occur once in some hundred billion runs.
      #expect(seen.insert(Array(bytes.prefix(8))).inserted)
      #expect(seen.insert(Array(bytes.suffix(8))).inserted || bytes.count == 8)
    }
  }

  @Test func `a forked process draws other random bytes than its parent`() {
    _ = Random.bytes(16)
    // Swift hides `fork`. The child writes its random bytes to the pipe and exits.
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
      // End the child if it blocks, so that the parent does not wait forever.
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
