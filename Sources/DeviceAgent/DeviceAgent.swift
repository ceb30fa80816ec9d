// DeviceAgent: the agent of a box. It shows the code, waits for the approval, keeps the tokens and gives them to local
// programs. It contains the screens, the daemon and its sockets, the box's TV provider account that apps share,
// enrolment, the search for a service, and the client for other OAuth servers. AccessEnabler sends the entitlement
// requests; QRCode builds QR symbols.
