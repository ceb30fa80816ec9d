import TestSupport
import Testing

/// Processes with a preloaded library such as libfaketime, a memory allocator or a tracer.
@Suite struct `Preloaded libraries` {
  @Test(
    .enabled(if: installedProgram("cc") != nil, "there is no C compiler: apt-get install gcc"),
    arguments: ["regentd", "regentctl", "regent"])
  func `a preloaded library that sets a variable does not change the arguments`(program: String) throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/early.c", Self.library.utf8)
      let made = try run(
        "cc", ["-shared", "-fPIC", "-o", "\(folder)/early.so", "\(folder)/early.c"])
      #expect(made.status == 0, "\(made.errorText)")
      for words in [["--version"], [], ["no-such-word", "", "--json"], ["--help", ""]] {
        let plain = try start(program, words, [:])
        let loaded = try start(program, words, ["LD_PRELOAD": "\(folder)/early.so"])
        #expect(loaded.status == plain.status, "\(words): \(loaded.errorText)")
        #expect(loaded.outputText == plain.outputText && loaded.errorText == plain.errorText)
      }
      #expect(try start(program, ["--version"], [:]).outputText.hasPrefix("\(program) "))
    }
  }

  private func start(
    _ program: String, _ words: [String], _ more: [String: String]
  ) throws -> FinishedProgram {
    // AddressSanitizer demands to be the first library.
    let usual = [
      "PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0",
    ]
    return try run(
      try builtProgram(program), words, environment: usual.merging(more) { $1 })
  }

  private static let library = """
    #include <stdlib.h>
    __attribute__((constructor)) static void early(void) { setenv("A_NEW_VARIABLE", "1", 1); }

    """
}
