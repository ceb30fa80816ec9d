// XML: reads small XML documents of strangers into a tree, over libexpat.
// Does not write XML and does not know what an element means: whoever reads a format does.
//
// What makes XML dangerous is refused, not limited: no document type (so no entities but the five that XML itself has,
// nothing fetched, nothing that grows), no processing instructions, UTF-8 only. What is left is bounded in bytes,
// depth, elements and the length of names.
