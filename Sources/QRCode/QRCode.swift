// QRCode: text to a matrix of modules, and that matrix to terminal text, SVG and PNG. Whether and where it is
// shown is decided by the agent.
