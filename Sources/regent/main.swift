// regent: reads the settings and runs the device agent. No logic.
// What the box shows and does is decided by DeviceAgent, how commands look by CommandKit.
