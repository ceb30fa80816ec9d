import PairingStore
import RegentEncodings
import RegentPairing

/// Encodes the changes, nonces and guesses that nodes share as text, one line for each.
///
/// Names contain no spaces or line feeds. A change is only a hint for the reading node to read a row again.
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

  /// Decodes changes of other nodes; nil when a line is unknown, because a later release may write further kinds.
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
  /// Encodes wrong guesses of secrets, one line for each.
  ///
  /// No times are encoded, because the table row that holds them has a time.
  static func text(of guesses: [WrongGuess]) -> String {
    guesses.map { guess in
      let who =
        switch guess.kind {
        case .phone(nil): "phone"
        // The account name is encoded as hexadecimal, because it may contain spaces.
        case .phone(let viewer?):
          "phone \(viewer.provider.text) \(Hex.encode(Array((viewer.account?.text ?? "").utf8)))"
        case .app(let requestor): "app \(requestor.text)"
        case .client: "client"
        case .program: "program"
        case .enrolment: "enrolment"
        }
      return "\(guess.source.text) \(guess.mark) \(who)"
    }.joined(separator: "\n")
  }

  /// Decodes the wrong guesses from a table row of this age, and skips invalid lines.
  static func guesses(in text: String, age: Duration) -> [WrongGuess] {
    text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 3, let source = SourceKey(text: words[0]), let mark = Int64(words[1]),
        let kind = kind(words.dropFirst(2))
      else { return nil }
      return WrongGuess(kind, from: source, mark: mark, age: age)
    }
  }

  private static func kind(_ words: ArraySlice<String>) -> WrongGuess.Kind? {
    let words = Array(words)
    switch (words[0], words.count) {
    case ("phone", 1): return .phone(nil)
    case ("phone", 2), ("phone", 3):
      guard let provider = ProviderID(words[1]) else { return nil }
      let bytes = words.count == 3 ? try? Hex.decode(words[2]) : nil
      let name = bytes.flatMap { String(validating: $0, as: UTF8.self) }
      return .phone(Viewer(provider: provider, account: name.flatMap { AccountName($0) }))
    case ("app", 2): return RequestorID(words[1]).map(WrongGuess.Kind.app)
    case ("client", 1): return .client
    case ("program", 1): return .program
    case ("enrolment", 1): return .enrolment
    default: return nil
    }
  }

  /// Encodes used nonces, with one line for adjacent nonces of the same key.
  ///
  /// It builds bytes directly, because a busy node writes and reads many thousands a second.
  static func text(of nonces: [UsedNonce]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(32 * nonces.count + 64)
    var (key, second): (PublicKey?, (number: Int64, text: [UInt8])?) = (nil, nil)
    for nonce in nonces {
      if nonce.key != key { text += Array(((key == nil ? "" : "\n") + nonce.key.text).utf8) }
      if nonce.second != second?.number { second = (nonce.second, Array(" \(nonce.second)/".utf8)) }
      key = nonce.key
      text += second?.text ?? []
      for shift in stride(from: UInt64(60), through: 0, by: -4) {
        text.append(Hex.digit(UInt8(truncatingIfNeeded: nonce.mark >> shift & 15)))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes used nonces and skips invalid ones.
  static func nonces(in text: String) -> [UsedNonce] {
    text.utf8.split(separator: UInt8(ascii: "\n")).flatMap { line -> [UsedNonce] in
      let words = line.split(separator: UInt8(ascii: " "))
      guard let key = words.first.flatMap({ PublicKey(String(Substring($0))) }) else { return [] }
      return words.dropFirst().compactMap { word in
        guard let slash = word.firstIndex(of: UInt8(ascii: "/")), let second = Int64(Substring(word[..<slash])),
          let mark = mark(word[word.index(after: slash)...])
        else { return nil }
        return UsedNonce(key: key, second: second, mark: mark)
      }
    }
  }

  private static func mark(_ text: Substring.UTF8View) -> UInt64? {
    var mark: UInt64 = 0
    var count = 0
    for byte in text {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      default: return nil
      }
      mark = mark << 4 | UInt64(digit)
      count += 1
    }
    return (1...16).contains(count) ? mark : nil
  }
}
