// XML: parses small XML documents from untrusted sources into a tree, with libexpat. It does not write XML and does not
// know what an element means.
//
// The dangerous features of XML are refused: document types (so no entities other than XML's own five, nothing that is
// fetched, nothing that expands), processing instructions, and encodings other than UTF-8. For the rest there are
// limits on bytes, depth, elements, attributes and the length of names.
