// HTTPServer: a strict HTTP/1.1 server on epoll, with listeners, one event loop for each core, deadlines, limits, TLS
// and a router. RegentHTTPCodec has the grammar; the handlers of the targets above decide what a request means.
