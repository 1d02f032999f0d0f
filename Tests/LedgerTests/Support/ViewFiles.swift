import Foundation

/// The files of views, to be damaged.
struct ViewFiles {
    /// One file.
    struct File {
        let url: URL
        var name: String { url.lastPathComponent }

        var content: Data {
            get throws { try Data(contentsOf: url) }
        }

        /// Writes changed content over what stands there: who has the file open sees it.
        func change(_ body: (inout Data) throws -> Void) throws {
            var content = try content
            try body(&content)
            try content.write(to: url)
        }
    }

    private(set) var files: [File]

    /// All files below a directory, by name.
    init(below path: String) throws {
        files = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
            .map { File(url: URL(filePath: path + "/" + $0)) }
            .filter {
                try FileManager.default.attributesOfItem(atPath: $0.url.path)[.type]
                    as? FileAttributeType == .typeRegular
            }
    }
}
