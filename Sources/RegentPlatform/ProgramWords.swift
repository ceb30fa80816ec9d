import Glibc

/// A program's name followed by its arguments.
///
/// Refuses NUL bytes, where the kernel would cut an argument off.
func programWords(
  _ program: String, _ arguments: [String], operation: String
) throws(SystemError) -> [String] {
  let words = [program] + arguments
  for word in words { try refuseNUL(in: word, operation: operation) }
  return words
}

/// Calls `body` with the words as an array of C strings, which are freed after the call.
func withPointers<Result, Failure: Error>(
  to words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(Failure) -> Result
) throws(Failure) -> Result {
  var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return try unsafe body(&pointers)
}
