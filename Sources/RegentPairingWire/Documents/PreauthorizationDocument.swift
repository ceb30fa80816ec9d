/// Which resources may be watched: what `preauthorize` answers, in the order asked.
public struct PreauthorizationDocument: WireDocument, Hashable {
  /// `<resources>`.
  public static let root = XMLRoot("resources")

  /// One resource and the answer.
  public struct Resource: Hashable, Sendable {
    /// As the app named it.
    public var id: String
    /// Whether it may be watched.
    public var isAuthorized: Bool
    /// Why not, for requestors that want enhanced errors.
    public var error: ErrorDocument?

    /// One answer.
    public init(id: String, isAuthorized: Bool, error: ErrorDocument? = nil) {
      self.id = id
      self.isAuthorized = isAuthorized
      self.error = error
    }
  }

  /// The answers.
  public var resources: [Resource]

  /// Answers in the order asked.
  public init(resources: [Resource]) {
    self.resources = resources
  }

  /// Writes the list; in XML the root is the list itself.
  public func write<Sink: DocumentSink>(to sink: inout Sink) {
    switch Sink.format {
    case .json:
      sink.objects("resources", item: "resource", resources) { $1.write(to: &$0) }
    case .xml:
      for resource in resources { sink.object("resource") { resource.write(to: &$0) } }
    }
  }
}

extension PreauthorizationDocument.Resource {
  fileprivate func write(to sink: inout some DocumentSink) {
    sink.text("id", id)
    sink.flag("authorized", isAuthorized)
    if let error { sink.object("error") { error.write(to: &$0) } }
  }
}
