// TestSupport: what several test targets share: a temporary folder of one's own, and running a program. Plain
// throwing functions: `import Testing` stays in the test targets.
