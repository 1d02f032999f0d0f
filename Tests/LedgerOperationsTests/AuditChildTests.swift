import Foundation
import LedgerAPI
import LedgerOperations
import Synchronization
import Testing

/// An audit in a process of its own.
struct `An audit's process` {
    /// Has what a shell script does in its place.
    private static func with<Value>(
        _ script: String,
        _ body: (AuditChild) throws -> Value
    ) throws -> Value {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "audit-" + UUID().uuidString).path
        try ("#!/bin/sh\n" + script).write(toFile: path, atomically: true, encoding: .utf8)
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default
            .setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return try body(AuditChild(program: path))
    }

    private static func run(
        _ script: String,
        note: String? = nil,
        isEnded: () -> Bool = { false }
    ) throws -> AuditChild.Outcome {
        try with(script) {
            try $0.run([], key: nil, note: note, isHeard: false, isEnded: isEnded)
        }
    }

    @Test func `is heard to its end`() throws {
        let outcome = try Self.run("read key; echo found; sleep 1; exit 3") { false }
        #expect(String(decoding: outcome.output, as: UTF8.self) == "found\n")
        #expect(outcome.code == 3 && outcome.isDamaged)
    }

    @Test func `is handed a checkpoint behind the key, in one line`() throws {
        let script = #"read -r key; read -r note; printf '%s' "<$key>$note""#
        let outcome = try Self.run(script, note: "log\n\u{2014} name\n")
        #expect(
            String(decoding: outcome.output, as: UTF8.self) == #"<>"log\n\#u{2014} name\n""#
        )
        // What no pipe holds would be waited for.
        let fault = #expect(throws: OperationFault.self) {
            try Self.run(script, note: String(repeating: "\n", count: 40_000))
        }
        #expect(fault?.code == .tooLarge)
    }

    // A wrong key says nothing of a copy, nor does one of before by which it is wrapped yet.
    @Test func `looks at the log alone of a copy that its key does not open`() throws {
        func report(_ script: String) throws -> AuditAnswer? {
            try Self.with(script) {
                try $0.report(onCopy: "/copy", masterKey: [UInt8](repeating: 2, count: 32))
            }
        }
        func keyless(_ script: String) -> String {
            #"case "$*" in *--without-key*) \#(script);; esac; exit 78"#
        }
        let sound = AuditAnswer(treeSize: 7).jsonText.description
        let found = try #require(try report(keyless("echo '\(sound)'; exit 0")))
        #expect(found.treeSize == 7 && !found.isCopyDamaged)
        #expect(try report(keyless("kill -9 $$"))?.isCopyDamaged == true)
        // One that lacks a file, with the right key, and one that is damaged.
        #expect(try report("exit 66") == nil)
        #expect(try report("exit 3")?.isCopyDamaged == true)
    }

    // Whoever ends a server does not wait for it: it ends as its input does.
    @Test(.timeLimit(.minutes(60))) func `ends where nobody wants to know any more`() throws {
        var looks = 0
        #expect(throws: CancellationError.self) {
            try Self.run("cat > /dev/null") {
                looks += 1
                return looks > 2
            }
        }
    }
}
