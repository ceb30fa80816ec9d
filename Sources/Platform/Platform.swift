// Platform: what touches Linux beyond files of text: terminal modes, durable atomic files, locks, readiness
// notification, signals. Sockets of HTTP belong to HTTPServer and HTTPClient.
