/// The response of `preauthorize`: which resources the viewer may watch, in the order of the request.
public struct PreauthorizationDocument: WireDocument, Hashable {
  public static let root = XMLRoot("resources")

  public struct Resource: Hashable, Sendable {
    /// The resource, as the app named it.
    public var id: String
    /// Whether the viewer may watch the resource.
    public var isAuthorized: Bool
    /// Why the viewer may not watch the resource, for requestors that use enhanced errors.
    public var error: ErrorDocument?

    public init(id: String, isAuthorized: Bool, error: ErrorDocument? = nil) {
      self.id = id
      self.isAuthorized = isAuthorized
      self.error = error
    }
  }

  public var resources: [Resource]

  public init(resources: [Resource]) {
    self.resources = resources
  }

  /// Writes the resources.
  ///
  /// In XML the root element itself is the list of resources.
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
