// regentd: reads the settings, builds the service and runs it. No logic: what a request means is decided by the use
// cases, how bytes travel by HTTPServer.
