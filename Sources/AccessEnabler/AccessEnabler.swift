// AccessEnabler: the device SDK that an app links. Owns the entitlement calls and callbacks, the state machine behind
// them and the token cache. Knows no screen and no terminal: DeviceAgent shows the code, the service decides.
