/// The name of an element or attribute.
public struct XMLName: Hashable, Sendable, CustomStringConvertible {
  /// The namespace, whatever prefix stood for it; none when the name is in no namespace.
  public let namespace: String?
  /// The name without a prefix.
  public let local: String

  public init(_ local: String, in namespace: String? = nil) {
    self.local = local
    self.namespace = namespace
  }

  /// The name, for messages.
  public var description: String { namespace.map { "{\($0)}\(local)" } ?? local }
}

/// An element with all that is in it.
public struct XMLElement: Hashable, Sendable {
  /// One attribute.
  public struct Attribute: Hashable, Sendable {
    public let name: XMLName
    /// Its value, as XML normalises it.
    public let value: String
  }

  /// What stands between the tags.
  public enum Node: Hashable, Sendable {
    /// Another element.
    case element(XMLElement)
    /// Characters, references resolved; what a comment or CDATA section divides is one text.
    case text(String)
  }

  public let name: XMLName
  /// Its attributes, in the order of the document.
  public let attributes: [Attribute]
  /// What is in it, in the order of the document.
  public internal(set) var nodes: [Node] = []
}

extension XMLElement {
  /// The elements directly below.
  public var children: [XMLElement] {
    nodes.compactMap { if case .element(let child) = $0 { child } else { nil } }
  }

  /// The elements directly below that have a name.
  public func children(_ name: XMLName) -> [XMLElement] { children.filter { $0.isNamed(name) } }

  /// The characters directly in it, without those of elements below.
  public var text: String {
    nodes.reduce(into: "") { text, node in if case .text(let part) = node { text += part } }
  }

  /// The value of an attribute.
  public func attribute(_ name: XMLName) -> String? {
    attributes.first { $0.name.isSame(as: name) }?.value
  }

  /// Whether it has this name.
  public func isNamed(_ name: XMLName) -> Bool { self.name.isSame(as: name) }

  /// Calls a closure with it and everything below, in the order of the document.
  public func forEach(_ body: (XMLElement) -> Void) {
    body(self)
    for child in children { child.forEach(body) }
  }
}

extension XMLName {
  /// Byte by byte, as XML compares names: for `==` of texts the Kelvin sign is a K.
  func isSame(as other: XMLName) -> Bool {
    local.utf8.elementsEqual(other.local.utf8)
      && (namespace ?? "").utf8.elementsEqual((other.namespace ?? "").utf8)
  }
}
