public import RegentHTTPCodec

extension ValueKind where Value == IPNetwork {
  /// The type of a value that is a network such as `10.0.0.0/8` or `fd00::/8`, or a single address.
  public static var network: ValueKind {
    ValueKind("CIDR", show: { $0.description }) { text throws(ValueProblem) in
      do throws(IPNetworkError) {
        return try IPNetwork(parsing: text)
      } catch {
        switch error {
        case .notAnAddress:
          throw ValueProblem(
            "is not a network", hint: "use a form such as 10.0.0.0/8, fd00::/8 or 192.0.2.7")
        case .badLength:
          throw ValueProblem(
            "has an invalid prefix length",
            hint: "use 0 to 32 after the slash for IPv4, 0 to 128 for IPv6")
        case .hostBitsSet(_, let network):
          throw ValueProblem(
            "is an address inside a network, not a network", hint: "did you mean \(network)?")
        }
      }
    }
  }
}

extension ValueKind where Value == AbsoluteURL {
  /// The type of a value that is a web address with `http` or `https` and a host.
  public static var webAddress: ValueKind {
    ValueKind("URL", show: { $0.description }) { text throws(ValueProblem) in
      let url: AbsoluteURL
      do throws(URLError) {
        url = try AbsoluteURL(parsing: text, acceptsZone: true)
      } catch {
        // The error itself names only https, and the server may have no TLS.
        let isHost = (try? AbsoluteURL(parsing: "http://\(text)", acceptsZone: true)) != nil && !text.contains("://")
        throw ValueProblem(
          "is not a web address: \(error)",
          hint: isHost
            ? "write http://\(text), or https://\(text) if it has TLS" : "use a form such as https://tv.example.org")
      }
      guard url.scheme == "https" || url.scheme == "http" else {
        throw ValueProblem("does not begin with http:// or https://", hint: "use a form such as https://tv.example.org")
      }
      return url
    }
  }
}
