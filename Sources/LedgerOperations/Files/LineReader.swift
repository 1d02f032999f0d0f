// Unsafe: read(2) fills the buffer of a new array, poll(2) a local structure, and memchr(3) looks
// through the buffer; all live for the call, buffers are passed with their lengths.

import Foundation
import Glibc
import SystemPackage

/// Reads lines of a file or of standard input, in bounded memory.
package final class LineReader {
    /// Bytes of a line; what is longer is passed over and reported as such.
    package static let lineByteLimit = 4 << 20
    private static let chunkByteCount = 1 << 20
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A line without its end.
    package struct Line {
        /// 1-based.
        package var number: Int
        /// nil: the line is longer than the limit.
        package var bytes: [UInt8]?

        package init(number: Int, bytes: [UInt8]?) {
            self.number = number
            self.bytes = bytes
        }

        /// Whether it holds white space only.
        package var isBlank: Bool {
            bytes?.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } ?? false
        }
    }

    private let handle: FileHandle
    private let byteLimit: Int
    private let keepsMark: Bool
    private let isInterrupted: @Sendable () -> Bool
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private var number = 0
    private var readCount: UInt64 = 0

    /// Opens a file; `-` is standard input.
    ///
    /// `byteLimit`: what is longer is passed over. `keepsMark`: whether the mark that some programs begin a
    /// text with belongs to its first line, as it does where bytes are held against a digest.
    ///
    /// `isInterrupted`: whether to wait no longer for input that does not come.
    ///
    /// - Throws: `OperationFault` for a missing file or a directory.
    package init(
        _ file: String,
        byteLimit: Int = lineByteLimit,
        keepsMark: Bool = false,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws {
        self.byteLimit = byteLimit
        self.keepsMark = keepsMark
        self.isInterrupted = isInterrupted
        if file == "-" {
            handle = .standardInput
            return
        }
        try Self.requireFile(file)
        guard let handle = FileHandle(forReadingAtPath: file) else {
            throw OperationFault(
                .notPermitted,
                "the file cannot be read",
                place: file
            )
        }
        self.handle = handle
    }

    /// Refuses a path at which nothing or a directory stands; opens nothing.
    ///
    /// - Throws: `OperationFault`.
    package static func requireFile(_ file: String) throws {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else {
            throw OperationFault(.noInput, "there is no such file", place: file)
        }
        guard !isDirectory else {
            throw OperationFault(.noInput, "this is a directory", place: file)
        }
    }

    /// Bytes of a regular file; nil for anything else: it has no end yet.
    package static func byteCount(of file: String) -> UInt64? {
        // The length only says how far one has come; who reads the file is told what is wrong.
        guard file != "-",
            let found = try? FileManager.default.attributesOfItem(atPath: file),
            found[.type] as? FileAttributeType == .typeRegular,
            let size = found[.size] as? NSNumber
        else { return nil }
        return size.uint64Value
    }

    /// Bytes of the lines that were handed out.
    package var byteCount: UInt64 { readCount - UInt64(buffer.count - position) }

    /// Whether the next line has come in whole.
    package var holdsLine: Bool { newline(from: position) != nil }

    /// The next line; nil at the end.
    package func next() throws -> Line? {
        var isTooLong = false
        var searched = position
        while true {
            if let end = newline(from: searched) {
                let bytes = isTooLong ? nil : Array(buffer[position..<end])
                position = end + 1
                return line(bytes)
            }
            if buffer.count - position > byteLimit {
                isTooLong = true
                position = buffer.count
            }
            searched = buffer.count - position
            guard try fill() else {
                // The piece of a line that stands there was not read to its end.
                if isInterrupted() { return nil }
                guard position < buffer.count || isTooLong else { return nil }
                let bytes = isTooLong ? nil : Array(buffer[position...])
                position = buffer.count
                return line(bytes)
            }
        }
    }

    /// Where the first line ends from a place of the buffer on; nil: it did not come in yet.
    private func newline(from start: Int) -> Int? {
        unsafe buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, 0x0A, bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    private func line(_ bytes: [UInt8]?) -> Line {
        number += 1
        guard var bytes, bytes.count <= byteLimit else {
            return Line(number: number, bytes: nil)
        }
        if number == 1, !keepsMark, bytes.starts(with: Self.byteOrderMark) {
            bytes.removeFirst(Self.byteOrderMark.count)
        }
        return Line(number: number, bytes: bytes)
    }

    /// Moves what is left to the front and reads on; false at the end.
    private func fill() throws -> Bool {
        guard !isAtEnd else { return false }
        buffer.removeFirst(position)
        position = 0
        let chunk = try readChunk()
        isAtEnd = chunk.isEmpty
        readCount += UInt64(chunk.count)
        buffer.append(contentsOf: chunk)
        return !isAtEnd
    }

    /// What is there to read, without waiting for more once there is something; empty at the end
    /// or after an interrupt.
    private func readChunk() throws -> [UInt8] {
        do {
            while try !handle.hasInput() {
                if isInterrupted() { return [] }
            }
        } catch let error as Errno {
            throw Self.unreadable(error)
        }
        let descriptor = FileDescriptor(rawValue: handle.fileDescriptor)
        do {
            return try unsafe [UInt8](unsafeUninitializedCapacity: Self.chunkByteCount) {
                buffer,
                count in
                count = try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        } catch let error as Errno {
            throw Self.unreadable(error)
        }
    }

    private static func unreadable(_ error: Errno) -> OperationFault {
        OperationFault(.io, "the input cannot be read (errno \(error.rawValue))")
    }

    /// Everything from here on, up to a limit, without passing it; nil if there is more.
    package func peekRest(limit: Int) throws -> [UInt8]? {
        while buffer.count - position <= limit {
            guard try fill() else { return Array(buffer[position...]) }
        }
        return nil
    }

    /// Passes over everything from here on that was read already.
    package func skipRest() { position = buffer.count }
}

extension FileHandle {
    /// How long it is waited for input before whoever waits looks around.
    private static let pollMilliseconds: Int32 = 100

    /// Whether there is something to read, or nothing more to come, after a short wait.
    ///
    /// A signal ends the wait early and says nothing of the input: a read after it would wait for
    /// ever, and nobody would see that the signal meant an interrupt.
    ///
    /// - Throws: `Errno`.
    func hasInput() throws -> Bool {
        var waiting = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&waiting, 1, Self.pollMilliseconds)
        if count < 0, errno != EINTR { throw Errno(rawValue: errno) }
        return count > 0
    }
}
