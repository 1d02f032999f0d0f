import Foundation
import Glibc
import Synchronization

/// A descriptor that the master key is read from: to its end, once.
package final class KeyDescriptor: Sendable {
    /// Its number.
    package let number: Int32
    private let text = Mutex<String?>(nil)

    package init(_ number: Int32) { self.number = number }

    /// The key; asked again, what was read before.
    ///
    /// - Throws: `OperationFault`.
    package func read() throws -> [UInt8] {
        let place = "--key-fd \(number)"
        let text = try text.withLock { text in
            if let text { return text }
            let handle = FileHandle(fileDescriptor: number, closeOnDealloc: false)
            guard let data = try? handle.readToEnd(), data.count <= KeyCommand.textByteLimit else {
                throw MasterKey.unreadable(place, "open it for reading: --key-fd 3 3<FILE")
            }
            let read = String(decoding: data, as: UTF8.self)
            text = read
            return read
        }
        return try MasterKey.parse(text, place: place)
    }
}

/// A command that prints the master key: a secret store's client, say.
enum KeyCommand {
    /// More than the digits of a key and some white space.
    static let textByteLimit = 4096

    /// - Throws: `OperationFault`.
    static func run(_ command: String) throws -> [UInt8] {
        let output = Pipe()
        let place = "--key-command"
        let data: Data
        let end: SpawnedProcess.End
        do {
            let process = try SpawnedProcess(
                "/bin/sh",
                ["-c", command],
                environment: SpawnedProcess.ownEnvironment,
                descriptors: [nil, output.fileHandleForWriting.fileDescriptor, STDERR_FILENO]
            )
            try output.fileHandleForWriting.close()
            data = try output.fileHandleForReading.readToEnd() ?? Data()
            end = try process.end()
        } catch {
            throw unreadable(place)
        }
        guard end == .exited(0), data.count <= textByteLimit else { throw unreadable(place) }
        return try MasterKey.parse(String(decoding: data, as: UTF8.self), place: place)
    }

    private static func unreadable(_ place: String) -> OperationFault {
        let hint = "the command must print 64 hexadecimal digits and exit 0"
        return MasterKey.unreadable(place, hint)
    }
}

extension SpawnedProcess {
    /// Our own environment, to be handed on.
    static var ownEnvironment: [String] {
        ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    }
}
