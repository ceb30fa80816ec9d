internal import RegentHTTPCodec
internal import RegentPairingWire
package import HTTPServer

/// The parameters of a request, from the query and the form body: clients use either, or both.
package struct CallParameters: Sendable {
  private let query: FormParameters
  private let form: FormParameters

  /// Reads the parameters from the query, and from the body if it is a form; other bodies have no parameters.
  package init(_ request: Request) throws(CallError) {
    do throws(RequestTextError) {
      query = try request.queryParameters()
      form = request.body.isEmpty || !request.isForm ? FormParameters() : try request.form()
    } catch {
      throw CallError(error.status, details: error.description)
    }
  }

  /// A parameter's value; nil when it is missing or empty.
  ///
  /// A repeated parameter is refused, even with the same value: a proxy in front of the service may have checked only
  /// one of the two.
  package func value(_ name: String) throws(CallError) -> String? {
    do throws(FormError) {
      let inQuery = try query.single(name)
      let inForm = try form.single(name)
      guard inQuery == nil || inForm == nil else { throw .repeated(name: name) }
      guard let value = inQuery ?? inForm, !value.isEmpty else { return nil }
      return value
    } catch {
      throw CallError(.badRequest, details: error.description)
    }
  }

  /// All values of a parameter that may be repeated, in their order.
  ///
  /// The request is refused when the parameter is in both the query and the body.
  package func values(_ name: String) throws(CallError) -> [String] {
    let inQuery = query.values(of: name)
    let inForm = form.values(of: name)
    guard inQuery.isEmpty || inForm.isEmpty else {
      throw CallError(.badRequest, details: FormError.repeated(name: name).description)
    }
    return inQuery + inForm
  }

  /// The query parameters that the protocol does not define; apps may use them for their own purposes.
  package var others: [(name: String, value: String)] {
    query.all.filter { !Field.all.contains($0.name) }.map { ($0.name, $0.value) }
  }

  /// A parameter's value; throws an error when the parameter is missing.
  package func required(_ name: String) throws(CallError) -> String {
    guard let value = try value(name) else { throw .missing(name) }
    return value
  }

  package func isInQuery(_ name: String) -> Bool { query.occurrence(of: name) != .absent }
}

extension Request {
  fileprivate var isForm: Bool { contentType?.matches(.form) ?? false }
}
