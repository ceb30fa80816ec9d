import CommandKit
import RegentCryptography
import RegentJSON

/// The box's word for one profile request of one app: a signed text of its own type, good for a minute.
struct BoxWord {
  let request: [UInt8]
  let box: BoxKeyFile.Kept
  let provider: String
  let who: AppRequestor
  /// Epoch milliseconds.
  let now: Int64

  func signed() throws(CommandError) -> String { "" }
}
