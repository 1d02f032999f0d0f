import Foundation
import LedgerOperations
import Testing

/// Programs in processes of their own.
struct `A process that is started` {
    /// What a program prints, and how it ends.
    private static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String] = [],
        folder: String? = nil
    ) throws -> (printed: String, end: SpawnedProcess.End) {
        let output = Pipe()
        let process = try SpawnedProcess(
            path,
            arguments,
            environment: environment,
            folder: folder,
            descriptors: [nil, output.fileHandleForWriting.fileDescriptor, nil]
        )
        try output.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        return (String(decoding: data, as: UTF8.self), try process.end())
    }

    @Test func `gets its arguments, its environment and its folder, and says how it ended`() throws
    {
        let script = #"printf '%s|%s|%s|' "$1" "$NAME" "$(pwd)"; cat; exit 7"#
        let (printed, end) = try Self.run(
            "/bin/sh",
            ["-c", script, "sh", "a b"],
            environment: ["NAME=val ue", "PATH=/usr/bin:/bin"],
            folder: "/proc"
        )
        // Nothing comes in, so that `cat` ends.
        #expect(printed == "a b|val ue|/proc|")
        #expect(end == .exited(7))
        #expect(try Self.run("/bin/sh", ["-c", "kill -9 $$"]).end == .signalled(9))
    }

    @Test func `is not started where there is none`() {
        let fault = #expect(throws: SpawnedProcess.Fault.self) {
            try Self.run("/nowhere/program", [])
        }
        #expect(fault?.number == 2)
    }

    // The lock of a writer must not outlive it, nor a file that is being written be busy.
    @Test func `has nothing open of ours but what it gets`() throws {
        let null = try FileHandle(forReadingFrom: URL(filePath: "/dev/null"))
        let open = (0..<50).map { _ in dup(null.fileDescriptor) }
        defer { for descriptor in open { close(descriptor) } }
        // The control: these would be handed on.
        #expect(open.allSatisfy { fcntl($0, F_GETFD) == 0 })
        let (printed, _) = try Self.run(
            "/bin/sh",
            ["-c", "ls /proc/$$/fd"],
            environment: ["PATH=/usr/bin:/bin"]
        )
        #expect(printed.split(separator: "\n").compactMap { Int($0) }.allSatisfy { $0 <= 10 })
        #expect(printed.hasPrefix("0\n1\n2\n"))
    }
}
