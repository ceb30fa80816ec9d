// FuzzSupport: what every fuzz target shares: the input as an array, and one way to report a broken promise.
// A fuzz target is one file, Tests/Fuzz/NAME/NAME.swift, with one function:
//
//   /// One input.
//   @_cdecl("LLVMFuzzerTestOneInput")
//   public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
//     let input = unsafe bytes(start, count)
//     …
//     return 0
//   }
//
// plus one line in Package.swift and seeds in Tests/Fuzz/corpora/NAME. Tests/Fuzz/run builds and runs them.
// Return 0 always; libFuzzer leaves an input out of the corpus only when it sees -1.

#if canImport(Glibc)
  import Glibc
#endif

/// The fuzzer's input as an array, so that a target needs no pointer of its own.
public func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
  guard let start = unsafe start else { return [] }
  return unsafe Array(UnsafeBufferPointer(start: start, count: count))
}

/// Reports a promise that this input broke; libFuzzer keeps the input.
public func broken(_ promise: String, _ details: String...) -> Never {
  let text = "BROKEN PROMISE: \(promise)\n" + details.map { "  \($0)\n" }.joined()
  for byte in text.utf8 { putc(Int32(byte)) }
  abort()
}

/// Reports `promise` as broken unless `holds`.
public func promise(_ promise: String, _ holds: Bool, _ details: @autoclosure () -> String = "") {
  if !holds { broken(promise, details()) }
}

private func putc(_ byte: Int32) {
  var one = UInt8(truncatingIfNeeded: byte)
  _ = unsafe write(2, &one, 1)
}
