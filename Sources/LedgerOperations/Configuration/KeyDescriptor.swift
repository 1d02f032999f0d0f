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
            guard let data = try? handle.read(beyond: KeyCommand.textByteLimit),
                !data.isEmpty, data.count <= KeyCommand.textByteLimit
            else {
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
            data = try output.fileHandleForReading.read(beyond: textByteLimit)
            // A command without an end has one where nobody reads it any more.
            try output.fileHandleForReading.close()
            // One that heeds no closed pipe would be waited for without an end.
            if data.count > textByteLimit { kill(process.number, SIGKILL) }
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

extension FileHandle {
    /// What there is to read: at most one byte more than a limit, by which it is seen to be longer.
    fileprivate func read(beyond limit: Int) throws -> Data {
        var data = Data()
        while data.count <= limit, let part = try read(upToCount: limit + 1 - data.count),
            !part.isEmpty
        {
            data += part
        }
        return data
    }
}

extension SpawnedProcess {
    /// Our own environment, to be handed on.
    static var ownEnvironment: [String] {
        ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    }
}
