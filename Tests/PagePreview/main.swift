// PagePreview: writes every state of the phone's pages to files, for screenshots and validators.
//
//   PagePreview WEB OUTPUT reads the `web` folder, writes OUTPUT/LANGUAGE/PAGE.html, the static files and headers.txt

import FoundationEssentials
import Glibc
import PairingService

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  print("usage: PagePreview WEB-FOLDER OUTPUT-FOLDER")
  exit(2)
}
let (webFolder, output) = (arguments[1], arguments[2])

func write(_ path: String, _ bytes: [UInt8]) throws {
  let url = URL(filePath: output).appending(path: path)
  try FileManager.default.createDirectory(
    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
  try Data(bytes).write(to: url)
}

func write(_ pages: PhonePages, in languages: [PageLanguage]) throws {
  for language in languages {
    for sample in samples {
      try write("\(language.tag)/\(sample.name).html", sample.render(pages, sample.frame(language)))
    }
  }
}

do {
  let web = try WebFiles(readingFolder: webFolder)
  let pages = try PhonePages(web)
  try write(pages, in: pages.languages)
  // In a separate set of pages, so that the language menu of the others does not offer it.
  let pseudo = try PhonePages(try withPseudoLanguage(web))
  try write(pseudo, in: pseudo.languages.filter { $0.tag == "qps" })
  for (path, file) in pages.files.all { try write(String(path.dropFirst()), file.bytes) }
  for color in sampleColors {
    try write(String(color.path.text.dropFirst()), color.styleSheet.bytes)
  }
  for (name, svg) in sampleLogos { try write("logo/\(name).svg", Array(svg.utf8)) }
  let headers = SecurityHeaders(https: false).list.map { "\($0.name): \($0.value)\n" }.joined()
  try write("headers.txt", Array(headers.utf8))
  try write("pages.txt", Array(samples.map { "\($0.name)\n" }.joined().utf8))
  print("\(samples.count) pages in \(pages.languages.count) languages: \(output)")
} catch {
  print("PagePreview: \(error)")
  exit(1)
}
