// regentd: reads the settings, builds the service and runs it. No logic.
