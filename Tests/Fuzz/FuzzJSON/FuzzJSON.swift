// FuzzJSON: the JSON reader on hostile bytes. Replaced by the real promises once the reader exists.

import FuzzSupport

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  promise("the input arrives whole", input.count == count)
  return 0
}
