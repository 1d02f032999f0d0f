import DurableFiles
import Foundation
import Glibc
import LMDBStorage
import Testing

/// A file that decides what is trusted is nobody else's, nor is any folder or link on the way to it.
struct `A trusted file` {
    /// Lends a folder below one for everybody, with `folder/file` in it.
    private static func with(_ body: (_ folder: String, _ file: String) throws -> Void) async throws
    {
        try await withScratchDirectory { scratch in
            let folder = scratch + "/folder"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            #expect(FileManager.default.createFile(atPath: folder + "/file", contents: Data()))
            try body(folder, folder + "/file")
        }
    }

    private static func distrust(_ path: String, owners: Set<UInt32> = []) -> TrustedFile.Distrust?
    {
        // What the system does not tell is no distrust.
        try? TrustedFile.distrust(of: path, owners: owners)
    }

    private static func permit(_ path: String, _ permissions: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    @Test func `is one that others cannot write, in such a folder`() async throws {
        try await Self.with { folder, file in
            let rows: [(folder: Int, file: Int, place: String?)] = [
                (0o755, 0o644, nil), (0o700, 0o600, nil), (0o1777, 0o644, nil),
                (0o755, 0o666, file), (0o1777, 0o646, file), (0o777, 0o600, folder),
                (0o757, 0o600, folder),
            ]
            for row in rows {
                try Self.permit(folder, row.folder)
                try Self.permit(file, row.file)
                #expect(Self.distrust(file)?.place == row.place, "\(row)")
                // Named another way
                #expect(Self.distrust(folder + "/../folder/./file")?.place == row.place)
            }
            #expect(Self.distrust(folder + "/absent")?.place == folder)
            try Self.permit(folder, 0o755)
            #expect(Self.distrust(folder + "/absent") == nil)
        }
    }

    @Test func `is not reached by a link through such a folder`() async throws {
        try await Self.with { folder, file in
            let (open, link) = (folder + "/open", folder + "/link")
            let manager = FileManager.default
            try manager.createDirectory(atPath: open, withIntermediateDirectories: true)
            try manager.createSymbolicLink(atPath: open + "/next", withDestinationPath: "../file")
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "open/next")
            #expect(Self.distrust(link) == nil)
            try Self.permit(open, 0o777)
            #expect(Self.distrust(link)?.place == open)
            #expect(Self.distrust(file) == nil)
            try manager.createSymbolicLink(atPath: folder + "/a", withDestinationPath: "b")
            try manager.createSymbolicLink(atPath: folder + "/b", withDestinationPath: "a")
            #expect(Self.distrust(folder + "/a")?.reason == .links)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives a file to another user"))
    func `is this user's, root's, or one's who is believed`() async throws {
        let stranger: UInt32 = 65_534
        try await Self.with { folder, file in
            let link = folder + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
            #expect(ScratchTarget.give(link, in: folder, permissions: 0o755))
            #expect(Self.distrust(link)?.place == link)
            #expect(Self.distrust(link)?.reason == .owner(stranger))
            #expect(Self.distrust(link, owners: [stranger]) == nil)
            #expect(Self.distrust(file) == nil)
            try FileManager.default.setAttributes(
                [.groupOwnerAccountID: Int(stranger)],
                ofItemAtPath: file
            )
            try Self.permit(file, 0o664)
            #expect(Self.distrust(file)?.reason == .writable)
            // A group of its owner's own number is theirs alone.
            try FileManager.default.setAttributes([.groupOwnerAccountID: 0], ofItemAtPath: file)
            #expect(Self.distrust(file) == nil)
        }
    }
}
