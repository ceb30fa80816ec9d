import PairingStore
import RegentEncodings
import RegentPairing

/// What nodes write for each other, as texts: a line for each thing.
///
/// Names have no spaces and no line ends. Whoever reads one believes nothing of it but that something must be read.
enum ChangeLog {
  static func text(of changes: Set<StoreChange>) -> String {
    let lines = changes.map { change in
      switch change {
      case .code(let id): "code \(id.text)"
      case .signIn(let requestor, let device): "sign-in \(requestor.text) \(Hex.encode(device.bytes))"
      case .box(let device): "box \(Hex.encode(device.bytes))"
      case .provisioning: "provisioning"
      case .signingKeys: "signing-keys"
      }
    }
    return lines.joined(separator: "\n")
  }

  /// What a text says; `nil` when some of it is not understood, as a later release may have more to tell.
  static func changes(in text: String) -> Set<StoreChange>? {
    var found: Set<StoreChange> = []
    for line in text.split(separator: "\n") {
      guard let change = change(line.split(separator: " ").map(String.init)) else { return nil }
      found.insert(change)
    }
    return found
  }

  private static func change(_ words: [String]) -> StoreChange? {
    switch (words.first, words.count) {
    case ("code", 2): RegistrationID(words[1]).map(StoreChange.code)
    case ("sign-in", 3):
      if let requestor = RequestorID(words[1]), let device = device(words[2]) {
        .signIn(requestor, device)
      } else {
        nil
      }
    case ("box", 2): device(words[1]).map(StoreChange.box)
    case ("provisioning", 1): .provisioning
    case ("signing-keys", 1): .signingKeys
    default: nil
    }
  }

  private static func device(_ text: String) -> DeviceHash? { (try? Hex.decode(text)).flatMap { DeviceHash($0) } }
}

extension ChangeLog {
  /// Nonces, a line for each key.
  static func text(of nonces: [UsedNonce]) -> String {
    Dictionary(grouping: nonces, by: \.key).map { key, nonces in
      nonces.reduce(into: key.text) { $0 += " \($1.second)/\(String($1.mark, radix: 16))" }
    }.joined(separator: "\n")
  }

  /// The nonces of a text; what is none is left out.
  static func nonces(in text: String) -> [UsedNonce] {
    text.split(separator: "\n").flatMap { line -> [UsedNonce] in
      let words = line.split(separator: " ")
      guard let key = words.first.flatMap({ PublicKey(String($0)) }) else { return [] }
      return words.dropFirst().compactMap { word in
        let parts = word.split(separator: "/")
        guard parts.count == 2, let second = Int64(parts[0]), let mark = UInt64(parts[1], radix: 16) else { return nil }
        return UsedNonce(key: key, second: second, mark: mark)
      }
    }
  }
}
