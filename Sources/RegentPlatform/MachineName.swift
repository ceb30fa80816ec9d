import Glibc

/// The host name of this machine; nil when it cannot be read.
public func machineName() -> String? {
  var buffer = [CChar](repeating: 0, count: 256)
  let code = unsafe gethostname(&buffer, buffer.count - 1)
  guard code == 0 else { return nil }
  let bytes = buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
  return String(validating: bytes, as: UTF8.self)
}
