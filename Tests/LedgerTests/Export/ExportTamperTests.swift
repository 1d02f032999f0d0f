import Crypto
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import Stores
import Testing

/// Row Z4: whatever is changed in an export is found, and named.
struct `A tampered export` {
    private static func filled(
        _ body: (LedgerExport, ExportInMemory) throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let customer = try ExportSample.export(scratch.ledger, .none, [.ndjson, .csv, .html])
            try body(customer, ExportInMemory(customer))
            let plan = try scratch.ledger.exporter.exportPlan(
                of: 3..<290,
                redaction: .none,
                formats: [.ndjson]
            )
            let range = try scratch.ledger.exporter.export(plan, reading: StoredEvidenceNames())
            try body(range, ExportInMemory(range))
        }
    }

    /// The files in which something is wrong, of an export in which one was changed.
    private static func found(
        _ files: ExportInMemory,
        _ name: String,
        _ change: (inout [UInt8]) -> Void
    ) throws -> Set<String?> {
        var files = files
        var bytes = files.files[name] ?? []
        change(&bytes)
        files.files[name] = bytes
        return Set(try ExportCheckAnswer(files, key: nil).faults.map(\.file))
    }

    @Test func `names the file, whichever byte of it is another one`() async throws {
        var random = SystemRandomNumberGenerator()
        var tried = 0
        try await Self.filled { _, files in
            #expect(try ExportCheckAnswer(files, key: nil).isOK)
            for (name, bytes) in files.files where !bytes.isEmpty {
                let places =
                    [0, bytes.count / 2, bytes.count - 1]
                    + (0..<5).map { _ in Int.random(in: bytes.indices, using: &random) }
                for place in places {
                    let bit = UInt8(1) << UInt8.random(in: 0..<7, using: &random)
                    let found = try Self.found(files, name) { $0[place] ^= bit }
                    // A changed manifest shows in its signature too, or in what it no longer lists.
                    let isNamed =
                        found.contains(name)
                        || name == ExportFile.manifest && found.contains(ExportFile.signature)
                    #expect(isNamed, "\(name) \(place) \(bit): \(found)")
                    tried += 1
                }
                #expect(try Self.found(files, name) { $0.removeLast() } != [])
                #expect(try Self.found(files, name) { $0.append(0x0A) } != [])
            }
        }
        #expect(tried > 100)
    }

    @Test func `names what is missing and what is too much`() async throws {
        try await Self.filled { _, files in
            for name in files.files.keys {
                var less = files
                less.files[name] = nil
                let check = try ExportCheckAnswer(less, key: nil)
                #expect(check.faults.contains { $0.file == name }, "\(name)")
            }
            var more = files
            more.files["more.txt"] = [1]
            #expect(try ExportCheckAnswer(more, key: nil).faults.map(\.file) == ["more.txt"])
            // No name rewrites what a terminal shows of the check.
            more.files["more.txt"] = nil
            more.files["\u{1B}[2Kwhole: 5 records proven"] = [1]
            let check = try ExportCheckAnswer(more, key: nil)
            #expect(!check.isOK && check.faults.map(\.file) == [nil])
            #expect(check.faults.allSatisfy { !$0.detail.contains("\u{1B}") })
        }
    }

    // An operator with the key can sign any manifest, but not a record into the tree.
    @Test(arguments: Tampering.allCases)
    func `is found by its records, though the manifest is signed anew`(
        _ tampering: Tampering
    ) async throws {
        try await Self.filled { export, files in
            var files = files
            files.files[ExportFile.proofs] = tampering.change(
                files.text(ExportFile.proofs).split(separator: "\n").map(String.init)
            )
            try files.sign(export)
            let check = try ExportCheckAnswer(files, key: nil)
            #expect(check.faults.contains { tampering.kinds.contains($0.kind) }, "\(check.faults)")
        }
    }

    /// What is done to the lines of records.
    enum Tampering: CaseIterable {
        case otherByte, swapped, left, twice, renumbered, notJSON

        var kinds: Set<ExportCheckAnswer.Kind> {
            switch self {
            case .otherByte: [.proof, .record]
            case .swapped, .twice, .renumbered, .notJSON: [.record]
            case .left: [.record, .proof]
            }
        }

        func change(_ lines: [String]) -> [UInt8] {
            var lines = lines
            switch self {
            case .otherByte:
                // The first letter of the record's last group of base64, within the checksum.
                let parts = lines[1].components("\"record\":\"")
                let record = parts[1].prefix { $0 != "\"" }
                let letter = record.dropLast(4).last == "A" ? "B" : "A"
                let changed = record.dropLast(5) + letter + record.suffix(4)
                lines[1] = parts[0] + "\"record\":\"" + changed + parts[1].dropFirst(record.count)
            case .swapped: lines.swapAt(0, 1)
            case .left: lines.remove(at: 1)
            case .twice: lines.insert(lines[1], at: 1)
            case .renumbered:
                lines[1] = lines[1].replacing("\"sequence\":\"0", with: "\"sequence\":\"1")
            case .notJSON: lines[1] = "{"
            }
            return Array((lines.joined(separator: "\n") + "\n").utf8)
        }
    }

    // What an event says in clear is held against its record, key or no key.
    @Test(arguments: [
        ("\"type\":\"flow.failed\"", "\"type\":\"flow.succeeded\"", "type"),
        ("\"errorCode\":\"NETWORK_ERROR\"", "\"errorCode\":\"DB_ERROR\"", "data.errorCode"),
        ("2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "time"),
        ("\"environment\":\"production\"", "\"environment\":\"sandbox\"", "environment"),
    ])
    func `is found by an event that says otherwise than its record`(
        _ old: String,
        _ new: String,
        _ member: String
    ) async throws {
        try await Self.filled { export, files in
            var files = files
            let text = files.text(ExportFile.events)
            try #require(text.contains(old))
            files.files[ExportFile.events] = Array(text.replacing(old, with: new).utf8)
            try files.sign(export)
            let faults = try ExportCheckAnswer(files, key: nil).faults
            #expect(faults.contains { $0.kind == .event && $0.detail.hasPrefix(member) })
        }
    }

    // Without the operator's key, an export shows that it is whole, not whose it is.
    @Test func `by somebody with a key of their own is found by the ledger's key`() async throws {
        try await Self.filled { export, files in
            let key = try VerifierKey(parsing: #require(try ExportCheckAnswer(files, key: nil).key))
            try Self.forge(export, files, key)
        }
    }

    private static func forge(
        _ export: LedgerExport,
        _ files: ExportInMemory,
        _ key: VerifierKey
    ) throws {
        let other = try NoteSigner(name: key.name, privateKey: Curve25519.Signing.PrivateKey())
        var forged = files
        let text = files.text(ExportFile.manifest)
            .replacing(key.text, with: other.verifierKey.text)
        forged.files[ExportFile.manifest] = Array(text.utf8)
        let digest = Base64.encode(Array(SHA256.hash(data: Array(text.utf8))).span)
        let note = try other.sign("entitlement-ledger export v1\nsha256 \(digest)\n")
        forged.files[ExportFile.signature] = Array(note.description.utf8)
        // The checkpoint still is the ledger's: it does not fit the other key.
        #expect(try !ExportCheckAnswer(forged, key: nil).isOK)
        let check = try ExportCheckAnswer(forged, key: key)
        #expect(check.faults.contains { $0.kind == .manifest })
    }

    /// What a line of records, or of a range's proof, says to whoever checks it.
    private struct Meaning: Equatable {
        var numbers: [UInt64?]
        var record: JSONValue?
        var hashes: [[JSONValue]?]
    }

    private static func meaning(_ bytes: [UInt8]) -> [Meaning] {
        bytes.split(separator: 0x0A).map { line in
            // What is no JSON says nothing.
            let json = try? JSONValue(parsing: Array(line))
            return Meaning(
                numbers: ["sequence", "from", "to"].map { name in
                    json?[name]?.string.flatMap { UInt64($0) }
                },
                record: json?["record"],
                hashes: ["proof", "edge", "consistency"].map { json?[$0]?.array }
            )
        }
    }

    // Input from outside: nothing in it stops the program.
    @Test func `of any bytes is refused, never trusted and never a crash`() async throws {
        var random = SystemRandomNumberGenerator()
        try await Self.filled { export, files in
            let isRange = export.plan.customer == nil
            let ranges = isRange ? [ExportFile.range] : []
            for name in [ExportFile.manifest, ExportFile.proofs] + ranges {
                let bytes = try #require(files.files[name])
                let meaning = Self.meaning(bytes)
                for _ in 0..<60 {
                    var changed = files
                    var altered = bytes
                    for _ in 0..<Int.random(in: 1...6, using: &random) {
                        let place = Int.random(in: altered.indices, using: &random)
                        altered[place] = Array("0123456789\",:[]{}-eA".utf8).randomElement() ?? 0
                    }
                    changed.files[name] = altered
                    if name != ExportFile.manifest { try changed.sign(export) }
                    let check = try ExportCheckAnswer(changed, key: nil)
                    #expect(check.records <= export.recordCount)
                    // Signed anew, another spelling of the same proof may pass: "-0" is 0.
                    let isSame =
                        name == ExportFile.manifest
                        ? altered == bytes : Self.meaning(altered) == meaning
                    #expect(isSame || !check.isOK, "\(name)")
                }
            }
            for edge in ["18446744073709551615", "18446744073709551614", "-1", ""] where isRange {
                var changed = files
                let from = try #require(files.json(ExportFile.range).first?["from"]?.string)
                let text = files.text(ExportFile.range).replacing(from, with: edge)
                changed.files[ExportFile.range] = Array(text.utf8)
                try changed.sign(export)
                #expect(try !ExportCheckAnswer(changed, key: nil).isOK)
            }
        }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        guard let range = firstRange(of: separator) else { return [self, ""] }
        return [String(self[..<range.lowerBound]), String(self[range.upperBound...])]
    }
}
