// FuzzSupport: shared by all fuzz targets: the input as an array, and the report of a broken promise.
// A fuzz target is one file, Tests/Fuzz/NAME/NAME.swift, with one function:
//
//   /// Fuzzes one input.
//   @_cdecl("LLVMFuzzerTestOneInput")
//   public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
//     let input = unsafe bytes(start, count)
//     …
//     return 0
//   }
//
// It also needs a line in Package.swift and seeds in Tests/Fuzz/corpora/NAME. Tests/Fuzz/run builds and runs them.
// Always return 0; libFuzzer leaves an input out of the corpus only when the function returns -1.

#if canImport(Glibc)
  import Glibc
#endif

/// The fuzzer's input as an array, so that targets need no unsafe pointers.
public func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
  guard let start = unsafe start else { return [] }
  return unsafe Array(UnsafeBufferPointer(start: start, count: count))
}

/// Reports a promise that the input broke and aborts; libFuzzer saves the input.
public func broken(_ promise: String, _ details: String...) -> Never {
  let text = "BROKEN PROMISE: \(promise)\n" + details.map { "  \($0)\n" }.joined()
  for byte in text.utf8 { putc(Int32(byte)) }
  abort()
}

public func promise(_ promise: String, _ holds: Bool, _ details: @autoclosure () -> String = "") {
  if !holds { broken(promise, details()) }
}

private func putc(_ byte: Int32) {
  var one = UInt8(truncatingIfNeeded: byte)
  _ = unsafe write(2, &one, 1)
}
