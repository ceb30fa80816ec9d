internal import RegentPlatform

/// A running server.
///
/// It listens from its creation until `stop`, which the program must call: the threads do not end by themselves.
public final class Server: Sendable {
  /// The addresses on which the server listens, with the ports that the kernel chose, in the order of the listeners.
  public let addresses: [ListenAddress]
  /// The maximum number of connections.
  public let connections: Int

  private let acceptor: Acceptor
  private let loops: [EventLoop]
  private let contexts: [TLSContext]
  private let pulsesAsked = Locked(0)
  /// The threads of the loops, then that of the acceptor; empty after `stop`.
  private let threads: Locked<[DedicatedThread]>

  /// Binds every listener and starts the threads; if it throws, no listener stays bound.
  public init(_ listeners: [Listener], configuration: ServerConfiguration = ServerConfiguration())
    throws(ServerError)
  {
    var bound: [(socket: ListeningSocket, service: ListenerService)] = []
    var running: [(loop: EventLoop, thread: DedicatedThread)] = []
    do throws(ServerError) {
      var contexts: [TLSContext] = []
      for listener in listeners {
        // The certificate is read first, so that a server that cannot serve does not take the port.
        var context: TLSContext?
        if let files = listener.tls {
          let new = try TLSContext(files)
          contexts.append(new)
          context = new
        }
        let service = ListenerService(handler: listener.handler, tls: context)
        bound.append((try ListeningSocket(listener.address), service))
      }
      let sources = SourceLimiter(configuration)
      var loops: [EventLoop] = []
      for _ in 0..<max(1, configuration.loops) {
        loops.append(try EventLoop(configuration: configuration, sources: sources))
      }
      let acceptor = try Acceptor(
        bound, loops: loops, configuration: configuration, sources: sources)
      addresses = bound.map(\.socket.address)
      connections = configuration.connections
      (self.acceptor, self.loops, self.contexts) = (acceptor, loops, contexts)
      for (index, loop) in loops.enumerated() {
        running.append((loop, try startThread("http-loop-\(index)", turns: .short) { loop.run() }))
      }
      // The thread asks the kernel for the shortest time slice. With a normal one, a client that connects to a busy
      // core would wait for the kernel's next tick (4 ms).
      let accepting = try startThread("http-accept", turns: .shortest) { acceptor.run() }
      threads = Locked(running.map(\.thread) + [accepting])
    } catch {
      for (loop, thread) in running {
        loop.mailbox.post(.drain(until: 0))
        thread.join()
      }
      for (socket, _) in bound { socket.close() }
      throw error
    }
  }

  /// The counters of the server since its start.
  public var statistics: Statistics {
    var sum = Statistics()
    sum.accepted = acceptor.accepted.now
    sum.shed = acceptor.shed.now
    sum.acceptPauses = acceptor.pauses.now
    for loop in loops {
      sum.open += loop.counters.open.now
      sum.requests += loop.counters.requests.now
      sum.shed += loop.counters.shed.now
      sum.evicted += loop.counters.evicted.now
      sum.refused += loop.counters.refused.now
      sum.timedOut += loop.counters.timedOut.now
      sum.abandoned += loop.counters.abandoned.now
      sum.faulty += loop.counters.faulty.now
      sum.failedHandshakes += loop.counters.failedHandshakes.now
    }
    return sum
  }

  /// Whether every loop has answered the pulse that the previous call sent; then sends the next one.
  ///
  /// A watchdog calls this.
  ///
  /// Returns true at the first call. A loop that a handler blocks does not answer.
  public func answersPulse() -> Bool {
    let asked = pulsesAsked.withLock { asked in
      defer { asked += 1 }
      return asked
    }
    let isAlive = loops.allSatisfy { $0.counters.pulses.now >= asked }
    for loop in loops { loop.mailbox.post(.pulse) }
    return isAlive
  }

  /// Reads the certificate files again; new connections use them.
  ///
  /// If a file is invalid, the listener keeps its certificate.
  public func reloadCertificates() throws(ServerError) {
    for context in contexts { try context.reload() }
  }

  /// Stops accepting, waits at most `limit` for requests in progress, then closes the remaining connections.
  ///
  /// The call blocks until all threads have ended, so a handler must not call it. A second call returns at once.
  public func stop(within limit: Duration = .seconds(5)) {
    let threads = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    guard let accepting = threads.last else { return }
    acceptor.stop()
    accepting.join()
    let until = monotonicMilliseconds() + limit.milliseconds
    for loop in loops { loop.mailbox.post(.drain(until: until)) }
    for thread in threads.dropLast() { thread.join() }
  }
}

/// Starts a thread with all signals blocked, so that signals reach the other threads of the program.
private func startThread(
  _ name: String, turns: DedicatedThread.Turns, _ body: @escaping @Sendable () -> Void
) throws(ServerError) -> DedicatedThread {
  do throws(SystemError) {
    return try DedicatedThread.start(named: name, blocking: .everySignal, turns: turns, body)
  } catch {
    throw .resources(reason: "no thread: \(reasonText(of: error.code))")
  }
}
