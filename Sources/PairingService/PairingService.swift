// PairingService: the HTTP service for phones and devices, with one folder for each step of the flow.
//
// - `Phone` decides which page a browser gets; `SignIn` identifies the viewer in that browser. Both change codes and
//   sign-ins only through `Core`, which owns the store.
// - `Pages` renders view models to bytes. It owns the template language, the texts with their plurals, the static
//   files, the headers of each response and one view model for each page state. It has no state, clock or store.
// - `OAuth` serves the same steps in OAuth's wire form, and `Clients` registers the clients that may use it.
// - `Platform` signs apps in with their box's account. `Administration` serves the operator's socket.
// - `Nodes` contains what a service does when it shares its store with other nodes. When the process is the only node,
//   `Nodes` does nothing.
