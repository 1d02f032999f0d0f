import Foundation

/// An empty directory that goes when the body ends.
func withScratchDirectory<Result>(
    _ body: (_ path: String) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "ledger-tests-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

/// Every regular file below a directory, with its bytes.
func files(below path: String) throws -> [(path: String, bytes: Data)] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path)
    return try names.compactMap { name in
        let file = path + "/" + name
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory), !isDirectory
        else { return nil }
        return (name, try Data(contentsOf: URL(filePath: file)))
    }
}
