package import RegentPairing
internal import XML

package struct MediaRSSError: Error, CustomStringConvertible {
  /// The reason why the fragment cannot be parsed.
  ///
  /// It repeats nothing of the text, so that nothing can be injected into the response.
  package let description: String
}

extension RequestedResource {
  /// Parses a resource: a plain name, or a Media RSS fragment.
  ///
  /// The name of a fragment is its channel's title, and it may contain ratings. A text that begins like XML, or
  /// contains `<rss` anywhere, must be a valid fragment. If a broken fragment, or one after an invisible character,
  /// were accepted as a plain name, its rating would be ignored.
  package init(reading id: ResourceID) throws(MediaRSSError) {
    let isFragment =
      id.text.utf8.first(where: { !$0.isXMLSpace }) == UInt8(ascii: "<")
      || id.text.lowercased().contains("<rss")
    guard isFragment else {
      self.init(id)
      return
    }
    let root: XMLElement
    do throws(XMLError) {
      root = try XMLElement(reading: Array(id.text.utf8), limits: XMLLimits(bytes: 8192, depth: 12))
    } catch {
      throw MediaRSSError(description: error.description)
    }
    guard root.isNamed(XMLName("rss")) else {
      throw MediaRSSError(description: "the resource is XML, and not an rss element")
    }
    let channels = root.children(XMLName("channel"))
    guard channels.count == 1, let channel = channels.first else {
      throw MediaRSSError(description: "the rss element must have one channel")
    }
    let titles = channel.children(XMLName("title"))
    guard titles.count == 1, let title = titles.first?.text.trimmedOfXMLSpace, !title.isEmpty else {
      throw MediaRSSError(description: "the channel must have one title")
    }
    self.init(id, name: title, ratings: root.ratings)
  }
}

extension XMLElement {
  private static let rating = XMLName("rating", in: "http://search.yahoo.com/mrss/")

  /// The ratings in the whole Media RSS fragment: of the channel, an item, or media in it.
  fileprivate var ratings: [ParentalRating] {
    var found: [ParentalRating] = []
    forEach { element in
      guard element.isNamed(Self.rating) else { return }
      let scheme = element.attribute(XMLName("scheme"))?.trimmedOfXMLSpace ?? ""
      found.append(
        ParentalRating(scheme: RatingScheme(scheme), value: element.text.trimmedOfXMLSpace))
    }
    return found
  }
}

extension UInt8 {
  fileprivate var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension String {
  fileprivate var trimmedOfXMLSpace: String {
    let bytes = Array(utf8)
    let start = bytes.firstIndex { !$0.isXMLSpace } ?? bytes.endIndex
    let end = bytes.lastIndex { !$0.isXMLSpace }.map { $0 + 1 } ?? start
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}
