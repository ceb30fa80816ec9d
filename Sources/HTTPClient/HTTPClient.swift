// HTTPClient: calls out: plain HTTP and Unix sockets on HTTPCodec, https through libcurl, loaded when first used.
// Knows no service and no path; what to ask, and what an answer means, is decided above.
