internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec

// The form in which the kernel gives and takes addresses.
extension IPAddress {
  init(_ address: in6_addr) {
    let halves = unsafe unsafeBitCast(address, to: (UInt64, UInt64).self)
    self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
  }

  var in6: in6_addr {
    unsafe unsafeBitCast((high.bigEndian, low.bigEndian), to: in6_addr.self)
  }
}
