import Glibc

/// A program's name and arguments, in none of which the kernel would see less than we do.
func programWords(
  _ program: String, _ arguments: [String], operation: String
) throws(SystemError) -> [String] {
  let words = [program] + arguments
  for word in words { try refuseNUL(in: word, operation: operation) }
  return words
}

/// Calls `body` with words as the kernel takes them, which live for the call.
func withPointers<Result, Failure: Error>(
  to words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(Failure) -> Result
) throws(Failure) -> Result {
  var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return try unsafe body(&pointers)
}
