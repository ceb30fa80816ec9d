import RegentPlatform
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `A pause between two tries` {
  private func seconds(_ body: () async -> Void) async -> Double {
    let start = Clocks.bootNanoseconds()
    await body()
    return Double(Clocks.bootNanoseconds(since: start)) / 1e9
  }

  @Test func `lasts as long as it is to, when nothing changes`() async {
    let recovery = Recovery()
    #expect(await seconds { await recovery.pause(.milliseconds(300)) } >= 0.3)
  }

  @Test func `ends when the network changes, also when that was while the try was under way`() async {
    let recovery = Recovery()
    recovery.changed()
    #expect(await seconds { await recovery.pause(.seconds(30)) } < 10)
    let pause = Task { await recovery.pause(.seconds(30)) }
    try? await Task.sleep(for: .milliseconds(50))
    recovery.changed()
    #expect(await seconds { await pause.value } < 10)
  }

  @Test func `ends once a second at most, however often the network comes and goes`() async {
    let recovery = Recovery()
    let flapping = Task {
      while !Task.isCancelled {
        recovery.changed()
        try? await Task.sleep(for: .milliseconds(1))
      }
    }
    let spent = await seconds { for _ in 0..<4 { await recovery.pause(.seconds(30)) } }
    flapping.cancel()
    #expect(spent >= 3)
  }

  @Test func `ends with its task`() async {
    let recovery = Recovery()
    let pause = Task { await recovery.pause(.seconds(60)) }
    pause.cancel()
    #expect(await seconds { await pause.value } < 10)
  }
}
