// PairingService: what the service does for phones and devices, one folder per step of the flow. `Phone` decides what a
// browser sees, `SignIn` who it is; both go through `Core`, which owns the store. `Pages` is view model in, bytes out:
// it owns the templates' language, the texts and their plurals, the static files, the headers of every answer and one
// view model for each page state. It keeps nothing, reads no clock and knows no store; the HTTP engine sends it.
// `OAuth` is another wire form of the same steps, with `Clients` who may speak it; `Platform` signs apps in by their
// box's account; `Administration` is the operator's socket.
// `Nodes` is what a service does that shares its store with others: with a store of its own all of it does nothing.
