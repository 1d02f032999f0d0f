import Crypto
import EventLog
import Foundation
import Testing

// row Z4: archives written by others and by us, byte for byte

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence))
struct ArchiveVectorTests {
    private func archive(_ folder: String) throws -> MemoryArchive {
        var files: [String: [UInt8]] = [:]
        for path in try Vectors.files(below: folder) {
            files[path] = try Vectors.data("\(folder)/\(path)")
        }
        return MemoryArchive(files)
    }

    private func entries() throws -> [[UInt8]] {
        let reader = ArchiveReader(try archive("own-log/at-600"))
        return try (0..<3).flatMap { try reader.records(ofBundle: $0) ?? [] }
    }

    private func signer() throws -> NoteSigner {
        let seed = try Vectors.text("own-log/test-seed-hex").trimmingCharacters(in: .newlines)
        let key = try #require(TreeDigest(hex: seed)).bytes
        return try NoteSigner(
            name: "ledger.example/test",
            privateKey: .init(rawRepresentation: key)
        )
    }

    @Test(arguments: [1, 100, 256, 257, 600])
    func `the same entries, origin and key make the same files`(size: Int) throws {
        let log = MemoryLog()
        try log.append(entries: Array(try entries().prefix(size)))
        let signer = try signer()
        let note = try signer.checkpoint(of: log)
        let store = MemoryArchive()
        var writer = ArchiveWriter(log: log, store: store, key: signer.verifierKey)
        #expect(try writer.write(upTo: note) == UInt64(size))
        // Beside what tlog-tiles asks for there is the history of checkpoints.
        var written = store.files.filter { !$0.key.hasPrefix("checkpoints/") }
        var wanted = try archive("own-log/at-\(size)").files
        #if canImport(CryptoKit)
        (written["checkpoint"], wanted["checkpoint"]) = (nil, nil)
        #endif
        #expect(written == wanted)
        #expect(Set(written.keys) == Set(wanted.keys))
    }

    @Test func `a log written by Tessera is read and found sound`() throws {
        let key = try VerifierKey(
            parsing: "example.com/log/testdata+33d7b496+"
                + "AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"
        )
        let store = try archive("tessera-log/testdata/log")
        var audit = ArchiveAudit(ArchiveReader(store), key: key)
        audit.run()
        #expect(audit.findings.isEmpty)
        #expect(audit.size == 15)
        // One byte of an entry, and it is not.
        var files = store.files
        files["tile/entries/000.p/15"]?[3] ^= 1
        var control = ArchiveAudit(ArchiveReader(MemoryArchive(files)), key: key)
        control.run()
        #expect(control.findings.map(\.sequence) == [0, nil, nil])
    }

    @Test func `a fork signed with the real key passes alone and continues no older archive`()
        throws
    {
        let key = try signer().verifierKey
        let fork = try archive("own-log/forked-600")
        var audit = ArchiveAudit(ArchiveReader(fork), key: key)
        audit.run()
        #expect(audit.findings.isEmpty)
        let log = MemoryLog()
        let reader = ArchiveReader(fork)
        try log.append(entries: (0..<3).flatMap { try reader.records(ofBundle: $0) ?? [] })
        let note = try #require(try reader.note())
        for (size, isPrefix) in [(1, true), (100, false), (256, false), (257, false)] {
            let older = try archive("own-log/at-\(size)")
            var writer = ArchiveWriter(log: log, store: older, key: key)
            if isPrefix {
                #expect(try writer.write(upTo: note) == 600)
            } else {
                #expect(throws: ArchiveFault.self) { try writer.write(upTo: note) }
            }
        }
    }
}
