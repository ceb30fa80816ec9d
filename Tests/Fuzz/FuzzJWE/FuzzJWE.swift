// FuzzJWE: no changed message is decrypted, and every text is encrypted and decrypted unchanged. The seed is a message
// for the key below, which is used nowhere else.

import FuzzSupport
import RegentCryptography

private let key: RSADecryptionKey = {
  guard let key = try? RSADecryptionKey(pem: Secret(pem)) else { broken("the target's private key can be used") }
  return key
}()
private let receiver: RSAEncryptionKey = {
  guard let own = try? SigningKey(pem: Secret(pem)), let key = try? RSAEncryptionKey(pem: own.publicKey.pem()) else {
    broken("the target's public key can be used")
  }
  return key
}()

/// Fuzzes one input: a message after the letter `M`, or after any other byte the bytes to encrypt.
///
/// A message may omit its first two parts, so that the fuzzer changes the others more often.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let first = input.first else { return 0 }
  let rest = Array(input.dropFirst())
  guard first == UInt8(ascii: "M") else {
    guard let message = try? JWE.encrypt(json: rest, for: receiver) else { broken("any bytes can be encrypted") }
    promise("an encrypted text is decrypted unchanged", JWE.decrypt(message, with: key) == rest, message)
    return 0
  }
  let text = String(decoding: rest, as: UTF8.self)
  for message in [text, "\(known.prefix(2).joined(separator: "."))\(text)"] {
    guard let clear = JWE.decrypt(message, with: key) else { continue }
    promise(
      "only the known message is decrypted", message.utf8.elementsEqual(known.joined(separator: ".").utf8), message)
    promise("the known message is decrypted to its text", clear == Array(#"["10115","10117"]"#.utf8))
  }
  return 0
}

/// The parts of the seed's message.
private let known = [
  "eyJhbGciOiJSU0EtT0FFUC0yNTYiLCJlbmMiOiJBMjU2R0NNIiwiY3R5IjoianNvbiJ9",
  "K6dWtqoCdNgWL4ourqEkEp1YhZhQ-ZLvL7FpLceapabAnBM0tHfogrCb1c4WwWqIqybfAq_HHIQtPjvKyVZwCs7UkKQj_aRQ8BOJ"
    + "Xhg6Y34Byc7j9gTofqF-k2cwZcUPy05ONmio2aos95K-1x1BhLL4n5oq-IMZq7sEVr_E9tH2qFZl_pIzZ4VsjOv1L4uZL59cwUbX"
    + "4f1CcZnzLSvU_L8zxokWwp8Z3_dpXKUphPYuosE4wdVZyLEW8ksvUynfhLzsHm_dS0_bUjZj6pR-KYUcltfif9-TK46wBqpm26R3"
    + "1Lhs192dJOaTflKjUFtgxV1XMrh0gy_NDiarNxICDA",
  "6ZnIJbZFxwGY6ONP", "BbMS1shZOUUAM13yuX4QD9E", "OfrXwJK2sUOR38Zc_sxM2w",
]

private let pem = """
  -----BEGIN PRIVATE KEY-----
  MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCymol3hALqb451
  zU/5BZiJ6ZT+DQUyCPwT2is3sAsnRcYfcP4ETPj2RvwvC9t50GZHB/+rwOZkz2Pi
  ITrdnqESUe8oVmSqZinAXtNX7tHNNemIMnqBjQTC2fN8oBFpzxQoSxZs62fMzENL
  wmbK84Sx9XxI0IPSQmKjhhKzKXYT7VH296Bs+xSDtREz1HMqw0o8PhLcq8Wi9Xkm
  cjNpoimtjqjSNZLhpJSIlhkOfXgR0yDx7UFS7m2VlRsUoW0SpMqh6mNJDfs8lYUX
  Z6kia1iAv4lKxkqNbFXemJLHk/sZ7CGQ4hLUw2W/Ri/zJZ5gishR+zXTmPKNR7w3
  Hueq/LLrAgMBAAECggEAAKSl0hRbnlSAgtQWcaMfhX+d1bxeRGvb3IZwmWa844tQ
  x1Q01fcg/mILDnBQfgPOGntg5FFxgvNsPKg5+gpUMiixX8fP3P05MUQmJq7pen+z
  M5Za8pR7a+g1BEHfTi48uFhs4D+IxCgIJgGxNRHjbHCh3fFCSEOM72HQN2zyy+eR
  UlvEbbbu74BW2LLZVhOq1ZW8mljuIQElVbOziEho/9NEtm1HFnzdHB71J4a/Q+Yw
  fY/uOrd9zOZhcLU8LPvMqKSRgsygC7t/rtQTxvbJE3qOWhl8/3VAsEdMp0zacGZs
  n0+twjBc4EiFTOYa1J/OKQXRuJCOJEhagcZjNrsUAQKBgQDzw7bQnonw3gSRNJ6z
  ii0FJJBFtN7UjEw8Uyp6WSHmEnaPbeRmgXf4SkvnARP7S/kA3JMlHmAJ5DzAGiSn
  csIXWuedaUR0twH7nWpccTUOXeOuUt1M702hf7PzJp+IoLA6/jEGmUcxouMVgrHm
  xZ30mNNOb46/Q5diz5nzLDjRgQKBgQC7kYeNHTxdwIKQOh3YqC0lXHuzB8O/QtZt
  zdE7QErOMqsKiTV/EiAHplorBNdF1aFLvh2XKgL7IfZb95XY6azZ2TSBIuTP5Ycn
  fpatMJoK7zCmMH1+wrq/ugZTC8uCeEwlxm7Nde4IBS1RTmKnoL5qsIAL2w/xS1I0
  YjXH5GoiawKBgGjvM1+TH+ZkbKrlb/vx23d/Sev39ISi8J53Xq3UeNdF02vi7pOB
  4FcuBIao3CUtiz9ntKAh903KxqwblPPQXuUW6OXGTwW/UkcyeHra8PACUuTUHxfj
  XBPNmXVuhvaV1cdPbWNd0Fv5tq+n11V0dI66yxvUwiprult66tbXjo4BAoGBAKkV
  5NNCIrQFIe3wZg10ddYzS9O1UTGuh+zOWCqIp6bAKE5EKHSXm0YqISicoY9zqIbG
  KJinp65KDHMVewDijg6IbntnQEtlh3QD+sK/iG4I95spJUhLNNw3TxI4FMpVtZds
  DWCsSdrzB8o+1lJ0ZpN47sVBQlrr4nwUeJTtBPxnAoGAAMVcawceEAqrMVDLszut
  QYUpqUeOMfkgRXtjT0vsdEWW3BnisqTAvBtjEG5xsA8keGurL0whMIig6GCcHHqP
  DrjtOAAiV9rnoKeiRrnZ2PMQMXJUmZDUcCM6X+dwMKrxKx8J3oXHMt0gcEA1sgqj
  bvI62yVDkNhd9vMpglTRJg0=
  -----END PRIVATE KEY-----
  """
