// HTTPServer: a strict HTTP/1.1 server over epoll: listeners, one event loop per core, deadlines, limits, TLS and
// the router. The grammar is in RegentHTTPCodec; what a request means is decided by the handlers above.
