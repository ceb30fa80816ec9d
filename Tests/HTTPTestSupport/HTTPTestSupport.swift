// HTTPTestSupport: shared by tests of HTTP: a client that works in-process and over a socket, raw connections, and
// the table of malformed requests. Its functions only throw; `import Testing` stays in the test targets.
