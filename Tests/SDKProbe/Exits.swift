import RegentCryptography
import Glibc
import RegentHTTPClient
import RegentHTTPCodec
import HTTPTestSupport
import RegentPlatform
import TestSupport

// An app may call `exit` at any time, also while the library's own threads are busy.

/// Ends the process with status 7 while four threads sign, verify, authenticate and draw random bytes.
func exitWhileComputing() -> Never {
  for _ in 0..<4 {
    startThread {
      guard let key = try? SigningKey.generate(.es256),
        let code = try? HMACKey(.sha256, Random.secret())
      else { abort() }
      while true {
        let message = Random.bytes(64)
        guard let signature = try? key.sign(message),
          key.publicKey.isValid(signature, for: message), code.code(message).count == 32
        else { abort() }
      }
    }
  }
  pass(milliseconds: Int.random(in: 5...60))
  exit(7)
}

/// Ends the process with status 7 while four tasks open one TLS connection after another.
///
/// Nothing else in this process uses OpenSSL.
func exitWhileFetching() throws -> Never {
  let port = try listenAndHangUp()
  let client = Client(ClientConfiguration(wallClock: Clocks.wallMilliseconds))
  for _ in 0..<4 {
    Task.detached {
      while let url = try? ClientURL("https://127.0.0.1:\(port)/") {
        _ = try? await client.send(ClientRequest(.get, url))
      }
    }
  }
  pass(milliseconds: Int.random(in: 20...150))
  exit(7)
}

/// Starts a listener that accepts every connection and closes it, and returns its port.
private func listenAndHangUp() throws -> UInt16 {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
      unsafe bind(listener, generic, length) == 0 && listen(listener, 16) == 0
        && getsockname(listener, generic, &length) == 0
    }
  }
  guard isBound else { abort() }
  startThread {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let connection = accept(listener, nil, nil)
      // Reads first, so that the client has sent its hello and the close is no reset.
      _ = unsafe recv(connection, &bytes, bytes.count, 0)
      close(connection)
    }
  }
  return UInt16(bigEndian: address.sin_port)
}
