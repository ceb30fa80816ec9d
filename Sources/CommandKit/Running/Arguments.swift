internal import Glibc
internal import RegentPlatform

extension CommandLine {
  /// The arguments without the program's name, exactly as given.
  ///
  /// `CommandLine.arguments` replaces invalid UTF-8 silently, so that a path would name another file.
  static func givenArguments() throws(CommandError) -> [String] {
    var texts: [String] = []
    for word in try givenWords().dropFirst() {
      guard let text = String(validating: word, as: UTF8.self) else {
        throw .usage(
          "an argument is not valid UTF-8", hint: "type it in a terminal that is set to UTF-8")
      }
      texts.append(text)
    }
    return texts
  }

  /// The bytes of each word, beginning with the program's name.
  private static func givenWords() throws(CommandError) -> [[UInt8]] {
    // Swift finds the arguments in memory beside the environment. A preloaded library that sets a variable before the
    // start (such as libfaketime) moves the environment, so that only the kernel still has the arguments.
    guard argc > 0 else { return try wordsFromKernel() }
    var words: [[UInt8]] = []
    for index in 0..<Int(argc) {
      guard let word = unsafe unsafeArgv[index] else { break }
      words.append(unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word))))
    }
    return words
  }

  private static func wordsFromKernel() throws(CommandError) -> [[UInt8]] {
    let path = "/proc/self/cmdline"
    var bytes: [UInt8] = []
    do throws(SystemError) {
      let file = try FileDescriptor.open(path, O_RDONLY)
      while true {
        let part = try file.read(atMost: 65_536, from: path)
        if part.isEmpty { break }
        bytes += part
      }
    } catch {
      throw CommandError(
        "the command line cannot be read: \(error.description)",
        hint: "mount the proc file system: mount -t proc proc /proc")
    }
    // Each argument ends with a NUL byte, also an empty one.
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
  }
}
