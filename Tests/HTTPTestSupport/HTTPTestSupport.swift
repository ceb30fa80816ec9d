// HTTPTestSupport: what tests of HTTP share: a client that is the same in-process and over a socket, raw connections,
// and the table of malformed requests. Plain throwing functions: `import Testing` stays in the test targets.
