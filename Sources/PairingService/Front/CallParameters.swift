internal import RegentHTTPCodec
internal import RegentPairingWire
package import HTTPServer

/// The parameters of a call, wherever they came: clients send them in the query, in a form body, or some in each.
package struct CallParameters: Sendable {
  private let query: FormParameters
  private let form: FormParameters

  /// Reads the query, and the body when it is a form; any other body carries no parameters.
  package init(_ request: Request) throws(CallError) {
    do throws(RequestTextError) {
      query = try request.queryParameters()
      form = request.body.isEmpty || !request.isForm ? FormParameters() : try request.form()
    } catch {
      throw CallError(error.status, details: error.description)
    }
  }

  /// A parameter's value; one that is empty is as good as missing.
  ///
  /// Said twice, it is refused, even with the same value: whoever stands in front of us may have read the other one.
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

  /// All values of a parameter that may be said several times, in their order.
  ///
  /// In the query and in the body at once, it is refused.
  package func values(_ name: String) throws(CallError) -> [String] {
    let inQuery = query.all.filter { $0.name == name }.map(\.value)
    let inForm = form.all.filter { $0.name == name }.map(\.value)
    guard inQuery.isEmpty || inForm.isEmpty else {
      throw CallError(.badRequest, details: FormError.repeated(name: name).description)
    }
    return inQuery + inForm
  }

  /// Those of the query that the protocol does not know: an app's own.
  package var others: [(name: String, value: String)] {
    query.all.filter { !Field.all.contains($0.name) }.map { ($0.name, $0.value) }
  }

  /// A parameter that must be there.
  package func required(_ name: String) throws(CallError) -> String {
    guard let value = try value(name) else { throw .missing(name) }
    return value
  }

  /// Whether a parameter came in the query rather than in the body.
  package func isInQuery(_ name: String) -> Bool { query.all.contains { $0.name == name } }
}

extension Request {
  fileprivate var isForm: Bool { contentType?.matches(.form) ?? false }
}
