// PairingService: what the service does for phones and devices, one folder per step of the flow. For now it holds
// `Pages`: view model in, bytes out. `Pages` owns the templates' language, the texts and their plurals, the static
// files, the headers of every answer and one view model for each page state. It keeps nothing, reads no clock and
// knows no store: the steps beside it decide what a page says, the HTTP engine sends it.
