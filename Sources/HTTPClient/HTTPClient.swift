// HTTPClient: calls out. Plain HTTP and Unix sockets on HTTPCodec, https through libcurl, loaded when first used.
