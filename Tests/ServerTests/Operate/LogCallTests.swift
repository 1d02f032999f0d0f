import Encodings
import Entitlements
import EventLog
import HTTPTypes
import Synchronization
import Testing

@testable import EntitlementLedger
@testable import LedgerServer

/// The log as others check it over HTTP (row Z4; C2SP tlog-tiles).
struct `The log over HTTP` {
    private static func fill(_ server: TestServer, _ count: Int) async throws {
        try server.publishCatalog()
        for number in 1..<count {
            let path = "/v1/customers/proven-\(number)/grants"
            #expect(try await server.post(path, #"{"tier":"pro"}"#).status == 200)
        }
        _ = try server.ledger.prover.checkpoint()
    }

    @Test func `is a tlog-tiles log that a stranger finds sound`() async throws {
        var setup = TestServer.Setup()
        setup.isLogPublic = true
        try await TestServer.with(setup) { server in
            try await Self.fill(server, 300)
            let note = try await server.send(.get, "/checkpoint")
            #expect(note.headers[.contentType] == "text/plain; charset=utf-8")
            let key = try server.ledger.prover.verifierKey
            let checkpoint = try SignedNote.parse(note.body).checkpoint(by: [key])
            #expect(checkpoint.size == 300)
            var files = ["checkpoint": Array(note.body.utf8)]
            for path in ["tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1"] {
                let tile = try await server.send(.get, "/" + path)
                #expect(tile.status == 200)
                #expect(tile.headers[.cacheControl] == "public, max-age=31536000, immutable")
                #expect(tile.headers[.vary] == nil)
                files[path] = tile.bytes
            }
            for path in ["tile/entries/000", "tile/entries/001.p/44"] {
                #expect(try await server.send(.get, "/" + path).status == 401)
                let records = try await server.get("/" + path, as: .audit)
                #expect(records.headers[.cacheControl]?.hasPrefix("private") == true)
                #expect(records.headers[.vary]?.contains("Authorization") == true)
                files[path] = records.bytes
            }
            // What records carry is not served: only the tree is audited here.
            var audit = ArchiveAudit(ArchiveReader(FilesInMemory(files)), key: key)
            audit.run()
            let findings = audit.findings.filter { !$0.detail.contains("carries") }
            #expect(findings.isEmpty)
            files["tile/0/000"]?[5] ^= 1
            var control = ArchiveAudit(ArchiveReader(FilesInMemory(files)), key: key)
            control.run()
            #expect(control.findings.count > findings.count)
        }
    }

    @Test(arguments: [
        "/tile/0/001", "/tile/0/001.p/45", "/tile/0/000.p/256", "/tile/0/x000/000", "/tile/00/000",
        "/tile/8/000.p/1", "/tile/-1/000", "/tile/entries/002.p/1", "/tile/entries/0",
        "/tile/0/999/999/999/999/999/999", "/v1/proofs/300", "/v1/proofs/x", "/v1/consistency/301",
        "/tile/entries/x18446744073709551615/000",
        "/tile/0/x18446744073709551/x999/x999/x999/999", "/tile/entries/18446744073709551615",
        "/tile/18446744073709551615/000", "/tile/9223372036854775807/000",
        "/tile/0/x999/x999/x999/x999/x999/999", "/tile/7/x999/x999/x999/x999/x999/999",
        "/tile/entries/x999/x999/x999/x999/x999/999", "/tile/0/000.p/18446744073709551615",
        "/v1/proofs/18446744073709551615", "/v1/consistency/18446744073709551615",
    ])
    func `has nothing where no checkpoint asks for it`(path: String) async throws {
        try await TestServer.with { server in
            try await Self.fill(server, 300)
            let answer = try await server.get(path, as: .audit)
            #expect(answer.status == 404, "\(path): \(answer.status)")
        }
    }

    // What stands in a path is decoded before it is read as a place.
    @Test func `has the same tile however the slash of its place is written`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, 5)
            let tile = try await server.get("/tile/0/000.p/1", as: .audit)
            #expect(tile.status == 200 && tile.bytes.count == 32)
            let encoded = try await server.get("/tile/0/000.p%2F1", as: .audit)
            #expect(encoded.status == 200 && encoded.bytes == tile.bytes)
            // The control: what is encoded is held to the same.
            #expect(try await server.get("/tile/0/000.p%2F6", as: .audit).status == 404)
        }
    }

    @Test func `gives proofs that hold without it`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, 40)
            let older = try await server.get("/checkpoint", as: .audit)
            _ = try await server.post("/v1/customers/proven-0/grants", #"{"tier":"pro"}"#)
            _ = try server.ledger.prover.checkpoint()
            let keys = [try server.ledger.prover.verifierKey]
            let answer = try await server.get("/v1/proofs/17", as: .audit)
            #expect(answer.headers[.ledgerSequence] == "41")
            let proof = try InclusionProofFile(parsing: try #require(answer.json["proof"]?.string))
            let record = try #require(proof.record)
            let leaf = TreeHash.leaf(record.span)
            #expect(try proof.verified(leafHash: leaf, by: keys).size == 41)
            let grown = try await server.get("/v1/consistency/40", as: .audit)
            #expect(grown.headers[.ledgerSequence] == "41")
            let growth = try ConsistencyProofFile(
                parsing: try #require(grown.json["proof"]?.string)
            )
            let note = try SignedNote.parse(older.body)
            #expect(try growth.verified(against: note, by: keys).size == 41)
            // The control: the newer checkpoint is not the one that it is about.
            let newer = try SignedNote.parse(try await server.get("/checkpoint", as: .audit).body)
            #expect(throws: NoteFault(.notProven, "")) {
                try growth.verified(against: newer, by: keys)
            }
        }
    }

    @Test func `proves growth of a checkpoint of its own alone`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, 5)
            let older = try server.ledger.prover.checkpoint()
            _ = try await server.post("/v1/customers/proven-0/grants", #"{"tier":"pro"}"#)
            _ = try server.ledger.prover.checkpoint()
            func asked(_ size: Int, _ note: String) async throws -> (Int, String?) {
                let path = "/v1/consistency/\(size)?against=\(note.pathSegment)"
                let answer = try await server.get(path, as: .audit)
                return (answer.status, answer.json["code"]?.string)
            }
            #expect(try await asked(5, older) == (200, nil))
            // As clients send it that encode a query as a form.
            let form = older.pathSegment.replacing("%20", with: "+")
            let told = try await server.get("/v1/consistency/5?against=" + form, as: .audit)
            #expect(told.status == 200, "\(told.body)")
            #expect(try await asked(4, older) == (400, "invalid_value"))
            #expect(try await asked(5, "nothing") == (422, "bad_signature"))
            // Signed by the same key, of another history.
            let root = TreeHash.leaf([1].span)
            let prover = server.ledger.prover
            let other = Checkpoint(origin: prover.identity.origin, size: 5, root: root)
            let forked = try prover.signer.sign(other.text).description
            #expect(try await asked(5, forked) == (409, "other_history"))
        }
    }

    @Test func `is signed, published and archived while the server runs`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let store = FilesInMemory([:])
            let published = Published()
            var schedule = LedgerServer.PublicationSchedule()
            schedule.publish = { note, _ in published.notes.withLock { $0.append(note) } }
            let publisher = LogPublisher(service: server.service, schedule: schedule)
            let archiver = LogArchiver(
                service: server.service,
                schedule: LedgerServer.ArchiveSchedule(to: store, manifest: Array("{}".utf8))
            )
            #expect(await publisher.run() == .done)
            #expect(await archiver.run() == .done)
            _ = try await server.post("/v1/customers/proven-1/grants", #"{"tier":"pro"}"#)
            #expect(await publisher.run() == .done)
            #expect(await archiver.run() == .done)
            let notes = published.notes.withLock { $0 }
            #expect(notes.count == 2)
            #expect(notes.last == (try server.ledger.prover.checkpointNote()))
            let audit = try server.ledger.archiver.audit(store)
            #expect(audit.findings.isEmpty)
            #expect(audit.size == 2)
            #expect(!server.log.all.contains { $0.contains("could not") })
            schedule.publish = { _, _ in throw ArchiveFault(.locked, "the place is taken") }
            let locked = LogPublisher(service: server.service, schedule: schedule)
            #expect(await locked.run() == .failed())
            #expect(server.log.all.contains { $0.contains("the place is taken") })
        }
    }
}

/// What was published.
private final class Published: Sendable {
    let notes = Mutex<[String]>([])
}

/// An archive's files in memory.
final class FilesInMemory: ArchiveStore {
    private let files: Mutex<[String: [UInt8]]>

    init(_ files: [String: [UInt8]]) { self.files = Mutex(files) }

    func read(_ path: String, limit: Int) -> [UInt8]? { files.withLock { $0[path] } }
    func exists(_ path: String) -> Bool { files.withLock { $0[path] != nil } }
    func names(in folder: String) -> [String] {
        files.withLock { files in
            files.keys.filter { $0.hasPrefix(folder + "/") }
                .compactMap { $0.dropFirst(folder.count + 1).split(separator: "/").first }
                .map(String.init)
        }
    }
    func write(_ new: [ArchiveFile]) {
        files.withLock { files in new.forEach { files[$0.path] = $0.bytes } }
    }
    func remove(_ path: String) {
        files.withLock { files in
            for name in files.keys where name == path || name.hasPrefix(path + "/") {
                files[name] = nil
            }
        }
    }
}
