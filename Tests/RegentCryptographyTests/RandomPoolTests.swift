import Glibc
@testable import RegentCryptography
import Testing

@Suite struct `Random bytes drawn ahead` {
  @Test func `none is handed out twice, whatever is asked for`() {
    var seen = Set<[UInt8]>()
    for round in 0..<2000 {
      let bytes = Random.bytes(8 + round % 40)
      // Eight bytes are the same by chance once in a few hundred thousand million runs.
      #expect(seen.insert(Array(bytes.prefix(8))).inserted)
      #expect(seen.insert(Array(bytes.suffix(8))).inserted || bytes.count == 8)
    }
  }

  @Test func `what is handed out is gone from the pool, and long secrets never were in it`() {
    _ = Random.bytes(16)
    let left = RandomPool.left
    _ = Random.bytes(16)
    #expect(RandomPool.left == left - 16 || left < 16)
    let before = RandomPool.left
    _ = Random.secret()
    _ = Random.bytes(RandomPool.most + 1)
    #expect(RandomPool.left == before)
  }

  @Test func `a child of a fork finds none that its parent has`() {
    _ = Random.bytes(16)
    #expect(RandomPool.left > 0)
    // Swift hides the call; the child looks at one number and ends.
    guard let address = unsafe dlsym(nil, "fork") else {
      Issue.record("no fork")
      return
    }
    let fork = unsafe unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)
    let child = fork()
    if child == 0 {
      // Waiting for it has a limit.
      alarm(10)
      _exit(RandomPool.left == 0 ? 0 : 1)
    }
    var status: Int32 = -1
    let ended = unsafe waitpid(child, &status, 0)
    #expect(ended == child)
    #expect(status == 0)
    #expect(RandomPool.left > 0)
  }
}
