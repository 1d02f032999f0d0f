import Foundation
import Glibc
import Testing

/// What may stand where a file is to be written; each in a directory of the test's own.
enum ScratchTarget {
    /// Why a test of a device is skipped.
    static let noDevices = "this machine or its owner lets nobody make devices"

    /// Makes a pipe and opens both ends, so that nobody waits.
    ///
    /// - Returns: what was written to it, once the body has ended.
    static func readingPipe(
        _ path: String,
        _ body: () async throws -> Void
    ) async throws -> String {
        guard unsafe mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        let descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
        defer { close(descriptor) }
        try await body()
        // It stays open at this end: what is there is read, and no end is waited for.
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Makes a device that takes everything, a copy of the system's; false, and said, where nobody may.
    static func makeDevice(_ path: String) -> Bool {
        if isDeviceMade(path) { return true }
        withKnownIssue("no device can be made here: only pipes are tried") {
            Issue.record("mknod failed")
        }
        return false
    }

    private static func isDeviceMade(_ path: String) -> Bool {
        guard unsafe mknod(path, S_IFCHR | 0o600, 1 << 8 | 3) == 0 else { return false }
        // Where devices do not work at all, mounted nodev say, none is of use.
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        return close(descriptor) == 0
    }

    /// What a path is.
    enum Kind {
        case file, directory, link, pipe, device, other
    }

    /// What stands at a path, a link not followed; nil: nothing.
    static func kind(_ path: String) -> Kind? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let type = attributes?[.type] as? FileAttributeType else { return nil }
        return switch type {
        case .typeRegular: .file
        case .typeDirectory: .directory
        case .typeSymbolicLink: .link
        case .typeCharacterSpecial: .device
        // Foundation has no word for a pipe.
        case .typeUnknown: .pipe
        default: .other
        }
    }

    /// Gives a link to another user, and its folder these permissions.
    static func give(_ link: String, in folder: String, permissions: UInt32) -> Bool {
        unsafe lchown(link, 65_534, 65_534) == 0 && chmod(folder, permissions) == 0
    }

    static func permissions(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }
}
