import DurableFiles
import Encodings
import Foundation
import Glibc
import LMDBStorage
import Testing

/// What is written by renaming replaces files and nothing else.
struct `A file that is written` {
    enum Writer: CaseIterable {
        case pieces, whole

        func write(_ text: String, to path: String) throws {
            switch self {
            case .pieces:
                let output = try FileOutput(path)
                for character in text { try output.write(String(character).utf8) }
                try output.close()
            case .whole: try DurableFile.replace(path, with: Array(text.utf8))
            }
        }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    private static func put(_ text: String, at path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    @Test(arguments: Writer.allCases)
    func `takes the place of another whole, for its owner only`(_ writer: Writer) async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/file"
            try Self.put("old", at: path)
            let old = try FileHandle(forReadingFrom: URL(filePath: path))
            try writer.write("new", to: path)
            #expect(try Self.text(path) == "new")
            #expect(ScratchTarget.permissions(path) == 0o600)
            // Whoever has the old one open reads it to its end.
            #expect(try old.readToEnd() == Data("old".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    // Two that replace the same file at once: nobody's half takes its place, and each is told what became of its own.
    @Test func `takes nothing of another's for its own`() async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/file"
            try Self.put("old", at: path)
            do {
                let first = try FileOutput(path, suffix: ".new")
                try first.write("first".utf8)
                let second = try FileOutput(path, suffix: ".new")
                try second.write("second".utf8)
                #expect(throws: FileFault.self) { try first.close() }
                #expect(try Self.text(path) == "old")
                try second.close()
            }
            #expect(try Self.text(path) == "second")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test func `leaves what stood there as it was where it is not ended`() async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/file"
            try Self.put("old", at: path)
            do {
                let output = try FileOutput(path)
                try output.write([UInt8](repeating: 7, count: 1 << 20))
            }
            #expect(try Self.text(path) == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test(arguments: Writer.allCases)
    func `is what links lead to, and they stay`(_ writer: Writer) async throws {
        try await withScratchDirectory { folder in
            let manager = FileManager.default
            try manager.createDirectory(
                atPath: folder + "/far",
                withIntermediateDirectories: true
            )
            try Self.put("old", at: folder + "/far/file")
            let links = [("near", "far/next"), ("far/next", folder + "/far/file")]
            for (link, target) in links {
                try manager.createSymbolicLink(
                    atPath: folder + "/" + link,
                    withDestinationPath: target
                )
            }
            try writer.write("new", to: folder + "/near")
            for (link, _) in links {
                #expect(ScratchTarget.kind(folder + "/" + link) == .link)
            }
            #expect(try Self.text(folder + "/far/file") == "new")
            // One that leads to nothing yet
            try manager.removeItem(atPath: folder + "/far/file")
            try writer.write("first", to: folder + "/near")
            #expect(try Self.text(folder + "/far/file") == "first")
            #expect(try manager.contentsOfDirectory(atPath: folder + "/far").count == 2)
        }
    }

    @Test(arguments: Writer.allCases)
    func `goes into a pipe or a device, which stays`(_ writer: Writer) async throws {
        try await withScratchDirectory { folder in
            let (pipe, link) = (folder + "/pipe", folder + "/link")
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: pipe
            )
            let read = try await ScratchTarget.readingPipe(pipe) {
                try writer.write("one,", to: pipe)
                try writer.write("two", to: link)
            }
            #expect(read == "one,two")
            #expect(ScratchTarget.kind(pipe) == .pipe)
            let device = folder + "/null"
            guard ScratchTarget.makeDevice(device) else { return }
            try writer.write("lost", to: device)
            #expect(ScratchTarget.kind(device) == .device)
        }
    }

    // `--output /dev/stdout`, and what a shell puts in place of `>(…)`
    @Test(arguments: Writer.allCases)
    func `goes on where a descriptor stands`(_ writer: Writer) async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/file"
            try Self.put("", at: path)
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.write(contentsOf: Data("before,".utf8))
            try writer.write("between,", to: "/dev/fd/\(handle.fileDescriptor)")
            try handle.write(contentsOf: Data("after".utf8))
            #expect(try Self.text(path) == "before,between,after")
        }
    }

    @Test(arguments: Writer.allCases)
    func `is refused where no file can be`(_ writer: Writer) async throws {
        try await withScratchDirectory { folder in
            let manager = FileManager.default
            for (link, target) in [("round", "round"), ("folder", ".")] {
                try manager.createSymbolicLink(
                    atPath: folder + "/" + link,
                    withDestinationPath: target
                )
            }
            try Self.put("", at: folder + "/file")
            let cases: [(String, Int32)] = [
                ("", ENOENT), (folder, EISDIR), (folder + "/folder", EISDIR),
                (folder + "/missing/file", ENOENT), (folder + "/file/file", ENOTDIR),
                (folder + "/round", ELOOP),
            ]
            for (path, code) in cases {
                let fault = #expect(throws: FileFault.self) { try writer.write("x", to: path) }
                #expect(fault?.code == code, "\(path): \(fault.debugDescription)")
            }
            let left = try manager.contentsOfDirectory(atPath: folder).sorted()
            #expect(left == ["file", "folder", "round"])
        }
    }

    // Somebody else may have put a link where the new file is made.
    @Test(arguments: [(Writer.pieces, ".1.new"), (.whole, ".new")])
    func `does not go through a link beside it`(_ writer: Writer, _ suffix: String) async throws {
        try await withScratchDirectory { folder in
            let (path, other) = (folder + "/file", folder + "/other")
            try Self.put("theirs", at: other)
            try FileManager.default.createSymbolicLink(
                atPath: path + suffix,
                withDestinationPath: other
            )
            try writer.write("new", to: path)
            #expect(try Self.text(path) == "new")
            #expect(try Self.text(other) == "theirs")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives a file to another user"))
    func `does not go through another user's link in a folder for everybody`() async throws {
        try await withScratchDirectory { folder in
            let (link, target) = (folder + "/link", folder + "/target")
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: target
            )
            #expect(ScratchTarget.give(link, in: folder, permissions: 0o1777))
            let fault = #expect(throws: FileFault.self) { try DurableFile.replace(link, with: [1]) }
            #expect(fault?.code == EACCES)
            // The control: nobody else writes there.
            #expect(ScratchTarget.give(link, in: folder, permissions: 0o755))
            try DurableFile.replace(link, with: [1])
            #expect(FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func `that must be new takes the place of nothing`() async throws {
        try await withScratchDirectory { folder in
            let (path, link) = (folder + "/file", folder + "/link")
            try DurableFile.create(path, with: [1])
            #expect(ScratchTarget.permissions(path) == 0o600)
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: folder + "/elsewhere"
            )
            for path in [path, link] {
                let fault = #expect(throws: FileFault.self) {
                    try DurableFile.create(path, with: [2])
                }
                #expect(fault?.code == EEXIST)
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data([1]))
            #expect(!FileManager.default.fileExists(atPath: folder + "/elsewhere"))
        }
    }

    // A command of root's beside a service that runs as the user whose the folder is.
    @Test(.enabled(if: geteuid() == 0, "only root gives a file to another user"))
    func `that root makes beside another user's is that user's`() async throws {
        try await withScratchDirectory { folder in
            try #require(ScratchTarget.give(folder, in: folder, permissions: 0o700))
            func owner(_ name: String) throws -> UInt32? {
                try DurableFile.status(folder + "/" + name, followsLinks: false)?.owner
            }
            let theirs = try #require(try owner("."))
            try #require(theirs != 0)
            try DurableFile.replace(folder + "/whole", with: [1])
            try DurableFile.make(folder + "/made")
            close(try DurableFile.openForAppending(folder + "/appended"))
            close(try #require(try DurableFile.lock(folder + "/locked")))
            for name in ["whole", "made", "appended", "locked"] {
                #expect(try owner(name) == theirs, "\(name)")
            }
            // The control: what root writes for itself, in whatever folder, stays root's.
            try Writer.pieces.write("new", to: folder + "/pieces")
            #expect(try owner("pieces") == 0)
        }
    }

    @Test func `is renamed over files only`() async throws {
        try await withScratchDirectory { folder in
            let (path, pipe) = (folder + "/file", folder + "/pipe")
            try Self.put("x", at: path)
            _ = try await ScratchTarget.readingPipe(pipe) {
                let fault = #expect(throws: FileFault.self) {
                    try DurableFile.rename(path, to: pipe)
                }
                #expect(fault?.code == EEXIST)
            }
            #expect(ScratchTarget.kind(pipe) == .pipe)
            #expect(try Self.text(path) == "x")
        }
    }
}
