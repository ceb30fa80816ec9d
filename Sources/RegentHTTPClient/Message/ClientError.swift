public import RegentHTTPCodec

/// The reason why a call has no response.
public struct ClientError: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The request cannot be sent, because its URL, method or a header is invalid.
    case invalidRequest(String)
    /// The client could not connect to the server, so it has sent nothing.
    case unreachable(Obstacle)
    /// The deadline passed in this phase of the call.
    case timedOut(Phase)
    /// The TLS handshake failed, or the certificate was refused.
    case tls(TLSFault)
    /// The body of the response exceeds the limit of the call.
    case tooLarge(limit: Int)
    /// The response is not valid HTTP.
    case malformed(MessageError?)
    /// The connection ended before the response was complete.
    ///
    /// The server may have processed the request.
    case connectionLost
    /// The server's machine has acknowledged nothing for about seven seconds, so the kernel ended the connection.
    ///
    /// The server may have processed the request.
    case connectionSilent
    /// The server sent a redirect that the policy of the call does not allow. The value says why.
    case redirectRefused(String)
    /// The proxy answered with this status instead of forwarding the request.
    case proxyRefused(status: Int)
    case cancelled
    /// libcurl is not installed or cannot be used. The value says why.
    case libraryMissing(String)
    /// This machine lacks a resource such as file descriptors.
    case system(String)
  }

  /// The reason why the client could not connect.
  public enum Obstacle: Hashable, Sendable {
    /// No program listens on the port or the socket.
    case refused
    /// The host name does not exist.
    case unknownName
    /// The name servers for the host name cannot be reached or do not answer.
    case lookUpFailed
    /// There is no route to the address of the host.
    case noRoute
    /// The Unix socket does not exist.
    case noSocket
    /// This user may not use the Unix socket.
    case notAllowed
    /// The process that listens on the Unix socket is not trusted; nothing was sent.
    case notTrusted
    /// No address of the host answered in time.
    case silent
  }

  /// The phase that a call has reached.
  public enum Phase: Hashable, Sendable {
    case lookingUp
    /// The client connects to the server, including the TLS handshake.
    case connecting
    case sending
    /// The client waits for the first byte of the response.
    case waiting
    case receiving
  }

  /// What is wrong with a TLS connection or its certificate.
  public enum TLSFault: String, Hashable, Sendable {
    case expired
    /// The certificate is not valid yet.
    case notYetValid
    /// The certificate appears to have expired because this machine's clock is ahead.
    case clockAhead
    /// The certificate appears not to be valid yet because this machine's clock is behind.
    case clockBehind
    /// The certificate was not issued by a trusted certificate authority.
    case untrusted
    /// The certificate is for another host.
    case wrongHost
    /// The certificate was refused for another reason.
    case refusedCertificate
    /// The handshake failed before a certificate was checked.
    case handshake
    /// The list of trusted certificate authorities cannot be read.
    case noAuthorities
  }

  public let kind: Kind
  /// The server that was called; nil if the URL could not be parsed.
  public let origin: Origin?
  /// The proxy that the call used; nil for none.
  public let proxy: ProxyAddress?

  public init(_ kind: Kind, _ origin: Origin?, proxy: ProxyAddress? = nil) {
    self.kind = kind
    self.origin = origin
    self.proxy = proxy
  }

  static func invalid(_ sentence: String, _ origin: Origin? = nil) -> ClientError {
    ClientError(.invalidRequest(sentence), origin)
  }
}

extension ClientError: CustomStringConvertible {
  /// A sentence about the error that is safe to show, because it contains no path, no query and no header.
  public var description: String {
    let server = origin?.description ?? "the server"
    return switch kind {
    case .invalidRequest(let why): "this cannot be called: \(why)"
    case .unreachable(let obstacle): "\(server) cannot be reached\(through): \(obstacle.words)"
    case .timedOut(let phase): "\(server) took too long\(through): time ran out while \(phase.words)"
    case .tls(let fault): "no safe connection to \(server): \(fault.words)"
    case .tooLarge(let limit): "\(server) answered with more than the \(limit) bytes allowed"
    case .malformed(let detail?): "\(server) gave an answer that is not HTTP. \(detail)"
    case .malformed(nil): "\(server) gave an answer that is not HTTP"
    case .connectionSilent: "\(server) stopped answering\(through)"
    case .connectionLost: "\(server) ended the connection before its answer was complete"
    case .redirectRefused(let why): "\(server) redirects, which is refused: \(why)"
    case .proxyRefused(407): "the proxy \(proxyName) wants a user name and a password"
    case .proxyRefused(let status): "the proxy \(proxyName) does not connect to \(server): it answers \(status)"
    case .cancelled: "the call to \(server) was cancelled"
    case .libraryMissing(let why): "https needs libcurl: \(why)"
    case .system(let why): why
    }
  }

  private var proxyName: String { proxy?.description ?? "" }
  private var through: String { proxy.map { " through the proxy \($0)" } ?? "" }

  /// What the user can do about the error.
  public var hint: String? {
    switch kind {
    case .invalidRequest, .cancelled: nil
    case .unreachable, .timedOut(.connecting), .timedOut(.lookingUp), .connectionSilent, .proxyRefused:
      proxy == nil ? reachHint : "check the proxy; no_proxy=\(origin?.host ?? "HOST") goes around it"
    case .timedOut: "check the network and whether the service is busy"
    case .tls(let fault): fault.hint
    case .tooLarge, .malformed:
      "check that the address is the service's own, not a sign-in page of the network"
    case .connectionLost where origin?.scheme == .http:
      "if the service has TLS there, use https://; otherwise try again, it may have been restarting"
    case .connectionLost: "try again; the service may have been restarting"
    case .redirectRefused where origin?.scheme == .http:
      "use the address that it redirects to: https:// if the service has TLS"
    case .redirectRefused: "use the service's own address"
    case .libraryMissing: "install the Debian package libcurl4: apt install libcurl4"
    case .system: nil
    }
  }

  /// The hint for a server that is called without a proxy.
  private var reachHint: String? {
    switch kind {
    case .unreachable(let obstacle): obstacle.hint(origin)
    case .timedOut(.lookingUp): "check the name servers: getent hosts \(origin?.host ?? "HOST")"
    default: ClientError.Obstacle.silent.hint(origin)
    }
  }
}

extension ClientError.Obstacle {
  fileprivate var words: String {
    switch self {
    case .refused: "no program listens there"
    case .unknownName: "the name is unknown"
    case .lookUpFailed: "the name cannot be looked up now"
    case .noRoute: "there is no route to it"
    case .noSocket: "the socket does not exist"
    case .notAllowed: "this user may not use the socket"
    case .notTrusted: "the program that listens there is not the box's agent"
    case .silent: "no address of it answers"
    }
  }

  fileprivate func hint(_ origin: Origin?) -> String {
    switch self {
    case .refused: "check that the service runs and that the port is right"
    case .unknownName where origin?.host.hasSuffix(".local") == true:
      "no machine of that name answers on this network: check that it is on and announces its name; or write the IP address"
    case .unknownName: "check the spelling of the address: getent hosts \(origin?.host ?? "HOST")"
    case .lookUpFailed: "check the network connection and /etc/resolv.conf"
    case .noRoute: "check the network connection: ip route"
    case .silent: "check the address and its port, and for a firewall in between"
    case .noSocket:
      "check that the service runs and its socket path: ls -l \(origin?.host ?? "SOCKET")"
    case .notTrusted: "find the program: ss -xlp; the agent runs as the owner of the socket's folder"
    case .notAllowed: "join the group of the socket, or use sudo: ls -l \(origin?.host ?? "SOCKET")"
    }
  }
}

extension ClientError.Phase {
  fileprivate var words: String {
    switch self {
    case .lookingUp: "its name was looked up"
    case .connecting: "connecting"
    case .sending: "the request was sent"
    case .waiting: "waiting for the answer"
    case .receiving: "the answer was received"
    }
  }
}

extension ClientError.TLSFault: CustomStringConvertible {
  /// What went wrong and what to do about it, in one sentence.
  public var description: String { "\(words); \(hint)" }

  fileprivate var words: String {
    switch self {
    case .expired: "its certificate has expired"
    case .notYetValid: "its certificate is not valid yet"
    case .clockAhead: "this machine's clock is ahead of the server's, so the certificate looks expired"
    case .clockBehind: "this machine's clock is behind, so the certificate does not look valid yet"
    case .untrusted: "its certificate is from an unknown authority"
    case .wrongHost: "its certificate is for another host"
    case .refusedCertificate: "its certificate was refused"
    case .handshake: "the TLS handshake failed"
    case .noAuthorities: "this user cannot read the file with the certificate authorities"
    }
  }

  fileprivate var hint: String {
    switch self {
    case .expired: "the service's certificate must be renewed"
    case .notYetValid: "the service needs a certificate that is valid now"
    case .clockAhead, .clockBehind: "set this machine's clock: timedatectl set-ntp true, or date -s"
    case .untrusted:
      "add its authority (PEM) with --ca-file FILE or SSL_CERT_FILE=FILE, or for the whole machine copy it to "
        + "/usr/local/share/ca-certificates/NAME.crt and run update-ca-certificates"
    case .wrongHost: "use the host name that the certificate is for"
    case .refusedCertificate: "check it: openssl s_client -connect HOST:PORT"
    case .handshake:
      "if the service has no TLS there, use http://; otherwise check: openssl s_client -connect HOST:PORT"
    case .noAuthorities:
      "move the file of --ca-file or SSL_CERT_FILE to a folder that this user can read, such as /etc/regent; if there is "
        + "none, install the package ca-certificates"
    }
  }
}
