public import RegentHTTPCodec

extension ValueKind where Value == IPNetwork {
  /// A network: `10.0.0.0/8`, `fd00::/8`, or one address.
  public static var network: ValueKind {
    ValueKind("CIDR", show: { $0.description }) { text throws(ValueProblem) in
      do throws(IPNetworkError) {
        return try IPNetwork(parsing: text)
      } catch {
        switch error {
        case .notAnAddress:
          throw ValueProblem(
            "is not a network", hint: "write it as 10.0.0.0/8, fd00::/8 or 192.0.2.7")
        case .badLength:
          throw ValueProblem(
            "has an impossible network size",
            hint: "IPv4 has 0 to 32 behind the slash, IPv6 0 to 128")
        case .hostBitsSet(_, let network):
          throw ValueProblem(
            "is an address inside a network, not a network", hint: "did you mean \(network)?")
        }
      }
    }
  }
}

extension ValueKind where Value == AbsoluteURL {
  /// An address of the web with a host, `http` or `https`.
  public static var webAddress: ValueKind {
    ValueKind("URL", show: { $0.description }) { text throws(ValueProblem) in
      let url: AbsoluteURL
      do throws(URLError) {
        url = try AbsoluteURL(parsing: text, acceptsZone: true)
      } catch {
        throw ValueProblem(
          "is not an address of the web: \(error)", hint: "write it as https://tv.example.org")
      }
      guard url.scheme == "https" || url.scheme == "http" else {
        throw ValueProblem("is neither http nor https", hint: "write it as https://tv.example.org")
      }
      return url
    }
  }
}
