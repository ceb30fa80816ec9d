internal import Glibc
internal import RegentPlatform

extension CommandLine {
  /// The arguments without the program's name, as they were given.
  ///
  /// `arguments` would repair what is not UTF-8 silently, and the path of another file would come out.
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

  /// The bytes of each word, the program's name first.
  private static func givenWords() throws(CommandError) -> [[UInt8]] {
    // Swift looks for the words beside the variables. A preloaded library that sets a variable before the program
    // starts (libfaketime does) has moved those away, and then the kernel alone knows.
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
        "the command line cannot be read: \(error.description)", hint: "mount /proc")
    }
    // Each word ends with a NUL, empty ones too.
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
  }
}
