/// The languages of the screen, the same as those of the phone's pages.
enum Language: String, CaseIterable, Sendable {
  case english = "en"
  case italian = "it"
  case spanish = "es"
  case korean = "ko"

  /// The language from the option, or else from the locale, or else English.
  ///
  /// - Parameters:
  ///   - asked: the option's value, such as `ko`.
  ///   - environment: returns the value of an environment variable.
  init(asked: String?, environment: (String) -> String?) {
    let locale = environment("LC_ALL") ?? environment("LC_MESSAGES") ?? environment("LANG")
    // The environment variable LANGUAGE has a list of languages in order of preference.
    let languages = [asked] + (environment("LANGUAGE") ?? "").split(separator: ":").map(String.init)
    let all = languages + [locale]
    self = all.compactMap { $0 }.lazy.compactMap(Self.init(tag:)).first ?? .english
  }

  /// Parses a language tag such as `it`, `it_IT.UTF-8` or `it-CH`.
  init?(tag: String) {
    let word = tag.prefix { $0.isLetter }
    self.init(rawValue: word.lowercased())
  }
}

/// The texts of the screen.
///
/// Each language has a file with their translations.
enum Phrase: String, CaseIterable, Sendable {
  case title, starting
  case scan, orOpen, enterCode, address, code, sameNetwork
  case waiting, connected, chooseNumber, compareCode
  case minutesLeft, underMinuteLeft
  case signedIn, signedInAs, signedInProvider, alreadySignedIn, signInAnew
  case denied, deniedAtNumber, expired, resting, restingWhy
  case offline, offlineRetry, codeStays
  case problemClock, problemPortal, problemRefused, problemForeignAddress
  case certificateUntrusted, certificateOtherName, certificateExpired, certificateNotYetValid, certificateRefused
  case noAuthorities, handshakeFailed
  case problemBusy, problemBusyFor, problemService, problemStorage, problemReadOnly
  case problemAccountDisabled
  case noRoomForCode, pictureElsewhere, pictureInFile
  case chooseProvider, search, noProvider, moreProviders
  case keyNew, keyProvider, keyQuit, keyChoose, keyTake, keyBack
  case reader, readerNumber
}

/// The texts of the screen in one language.
struct Texts: Sendable {
  let language: Language
  private let words: @Sendable (Phrase) -> String

  init(_ language: Language) {
    self.language = language
    words =
      switch language {
      case .english: englishWords
      case .italian: italianWords
      case .spanish: spanishWords
      case .korean: koreanWords
      }
  }

  subscript(_ phrase: Phrase) -> String { words(phrase) }

  /// The text of a phrase with its placeholders replaced: `{name}` by the value for `name`.
  subscript(_ phrase: Phrase, _ values: KeyValuePairs<String, String>) -> String {
    var result = ""
    var rest = words(phrase)[...]
    while let open = rest.firstIndex(of: "{") {
      result += rest[..<open]
      rest = rest[rest.index(after: open)...]
      guard let close = rest.firstIndex(of: "}") else { break }
      let name = rest[..<close]
      result += values.first { $0.key == name }?.value ?? ""
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}
