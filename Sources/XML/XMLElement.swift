/// The name of an element or attribute.
public struct XMLName: Hashable, Sendable, CustomStringConvertible {
  /// The namespace that the prefix stands for; nil when the name is in no namespace.
  public let namespace: String?
  public let local: String

  public init(_ local: String, in namespace: String? = nil) {
    self.local = local
    self.namespace = namespace
  }

  /// The name as messages show it: `{namespace}name`.
  public var description: String { namespace.map { "{\($0)}\(local)" } ?? local }
}

/// An element with its attributes and content.
public struct XMLElement: Hashable, Sendable {
  public struct Attribute: Hashable, Sendable {
    public let name: XMLName
    /// The attribute's value, normalised as XML requires.
    public let value: String
  }

  /// A piece of an element's content.
  public enum Node: Hashable, Sendable {
    case element(XMLElement)
    /// Text with references resolved.
    ///
    /// Text that comments or CDATA sections divide is one piece.
    case text(String)
  }

  public let name: XMLName
  /// The attributes of the element, in the order of the document.
  public let attributes: [Attribute]
  /// The content of the element, in the order of the document.
  public internal(set) var nodes: [Node] = []
}

extension XMLElement {
  /// The direct child elements.
  public var children: [XMLElement] {
    nodes.compactMap { if case .element(let child) = $0 { child } else { nil } }
  }

  /// The direct child elements with this name.
  public func children(_ name: XMLName) -> [XMLElement] { children.filter { $0.isNamed(name) } }

  /// The text directly in the element, without that of child elements.
  public var text: String {
    nodes.reduce(into: "") { text, node in if case .text(let part) = node { text += part } }
  }

  /// The value of the element's attribute with this name; nil if there is none.
  public func attribute(_ name: XMLName) -> String? {
    attributes.first { $0.name.isSame(as: name) }?.value
  }

  public func isNamed(_ name: XMLName) -> Bool { self.name.isSame(as: name) }

  /// Calls `body` with this element and all elements in it, in the order of the document.
  public func forEach(_ body: (XMLElement) -> Void) {
    body(self)
    for child in children { child.forEach(body) }
  }
}

extension XMLName {
  /// Compares the bytes of two names, as XML does.
  ///
  /// Swift's `==` treats the Kelvin sign as equal to K.
  func isSame(as other: XMLName) -> Bool {
    local.utf8.elementsEqual(other.local.utf8)
      && (namespace ?? "").utf8.elementsEqual((other.namespace ?? "").utf8)
  }
}
