import Crypto
import Encodings
import EventLog
import Foundation
import Testing

// row Z4: whole logs on disk, ours and Tessera's, in the form of C2SP tlog-tiles

/// A log in a folder, read as a stranger would read it.
private struct FolderLog: TileSource {
    var folder: String
    var size: UInt64

    func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        let width = TileCoordinate.width(level: level, index: index, size: size)
        guard width > 0 else { return nil }
        let path = TileCoordinate(level: level, index: index, width: width).path
        return try Vectors.data("\(folder)/\(path)")
    }

    /// The records of all bundles: each after its length, 16 bits big-endian.
    func records() throws -> [[UInt8]] {
        var records: [[UInt8]] = []
        for index in 0..<(size + 255) / 256 {
            let width = TileCoordinate.width(level: 0, index: index, size: size)
            let path = TileCoordinate.entriesPath(index: index, width: width)
            var rest = try Vectors.data("\(folder)/\(path)")[...]
            while !rest.isEmpty {
                let count = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
                records.append(Array(rest.dropFirst(2).prefix(count)))
                rest = rest.dropFirst(2 + count)
            }
        }
        return records
    }

    func leaves() throws -> [TreeDigest] {
        try records().map { TreeHash.leaf($0.span) }
    }

    func checkpoint(_ name: String = "checkpoint", by key: VerifierKey) throws -> Checkpoint {
        let note = try SignedNote.parse(Vectors.text("\(folder)/\(name)"))
        return try Checkpoint(note.verified(by: [key]))
    }
}

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence))
struct StoredLogTests {
    private static let sizes: [UInt64] = [1, 100, 256, 257, 600]

    private func own(_ size: UInt64) -> FolderLog {
        FolderLog(folder: "own-log/at-\(size)", size: size)
    }

    private func ownKey() throws -> VerifierKey {
        let text = try Vectors.text("own-log/vkey").trimmingCharacters(in: .newlines)
        return try VerifierKey(parsing: text)
    }

    @Test(arguments: sizes)
    func `the same records make the same tiles and checkpoint byte for byte`(size: UInt64) throws {
        let leaves = try own(600).leaves()
        #expect(leaves.count == 600)
        var writer = TileWriter()
        for leaf in leaves.prefix(Int(size)) { writer.append(leaf) }
        var written: [String: [UInt8]] = [:]
        for tile in writer.takeChanges() { written[tile.coordinate.path] = tile.bytes }

        let seed = try Vectors.text("own-log/test-seed-hex").trimmingCharacters(in: .newlines)
        let key = try #require(TreeDigest(hex: seed)).bytes
        let signer = try NoteSigner(
            name: "ledger.example/test",
            privateKey: .init(rawRepresentation: key)
        )
        #expect(signer.verifierKey == (try ownKey()))
        let checkpoint = Checkpoint(origin: signer.name, size: size, root: writer.edge.root)
        let note = try signer.sign(checkpoint.text)
        #expect(try Checkpoint(note.verified(by: [ownKey()])) == checkpoint)
        #if !canImport(CryptoKit)
        written["checkpoint"] = Array(note.description.utf8)
        #endif

        let folder = "own-log/at-\(size)"
        var stored: [String: [UInt8]] = [:]
        for path in try Vectors.files(below: folder) where !path.hasPrefix("tile/entries/") {
            stored[path] = try Vectors.data("\(folder)/\(path)")
        }
        #if canImport(CryptoKit)
        stored["checkpoint"] = nil
        #endif
        #expect(written == stored)
    }

    @Test func `each older checkpoint is a prefix of the log`() throws {
        let reader = TreeReader(own(600))
        let newest = try own(600).checkpoint(by: ownKey())
        #expect(try reader.root(size: 600) == newest.root)
        for size in Self.sizes {
            let older = try own(size).checkpoint(by: ownKey())
            let proof = try reader.consistencyProof(from: older.size, to: newest.size)
            #expect(proof.holds(oldRoot: older.root, newRoot: newest.root), "size \(size)")
            #expect(!proof.holds(oldRoot: older.root.flipping(bit: 3), newRoot: newest.root))
        }
    }

    @Test func `a fork signed with the real key fails against an older checkpoint`() throws {
        let fork = FolderLog(folder: "own-log/forked-600", size: 600)
        let reader = TreeReader(fork)
        let forked = try fork.checkpoint(by: ownKey())
        #expect(try reader.root(size: 600) == forked.root, "alone it passes")
        for (size, isPrefix) in [(1, true), (100, false), (256, false), (257, false)] {
            let older = try own(UInt64(size)).checkpoint(by: ownKey())
            let proof = try reader.consistencyProof(from: older.size, to: forked.size)
            let holds = proof.holds(oldRoot: older.root, newRoot: forked.root)
            #expect(holds == isPrefix, "size \(size)")
        }
        let honest = try own(600).checkpoint(by: ownKey())
        let same = ConsistencyProof(from: 600, to: 600, hashes: [])
        #expect(!same.holds(oldRoot: honest.root, newRoot: forked.root))
    }

    @Test func `a log written by Tessera is accepted`() throws {
        let key = try VerifierKey(
            parsing: "example.com/log/testdata+33d7b496+"
                + "AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"
        )
        let log = FolderLog(folder: "tessera-log/testdata/log", size: 15)
        let reader = TreeReader(log)
        let newest = try log.checkpoint(by: key)
        #expect(newest.size == 15)
        var edge = TreeEdge()
        for (sequence, leaf) in try log.leaves().enumerated() {
            let older = try log.checkpoint("checkpoint.\(sequence)", by: key)
            #expect(older.root == edge.root)
            if sequence > 0 {
                let proof = try reader.consistencyProof(from: older.size, to: 15)
                #expect(proof.holds(oldRoot: older.root, newRoot: newest.root))
            }
            let proof = try reader.inclusionProof(leaf: UInt64(sequence), size: 15)
            #expect(proof.holds(leafHash: leaf, root: newest.root))
            #expect(!proof.holds(leafHash: leaf.flipping(bit: 0), root: newest.root))
            edge.append(leaf)
        }
        #expect(edge.root == newest.root)
        #expect(edge.size == 15)
    }
}
