import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// What the page of an event says where bytes are not what was recorded, and where an event stands twice.
struct `The page of an event in a damaged log` {
    /// Lends a server with a signal of the App Store, and the sequences of its events.
    private static func withSignal(
        _ body: @escaping @Sendable (TestServer, PageVisitor, Range<UInt64>) async throws -> Void
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let first = try server.ledger.questions.size()
            let sent = try AppStoreWorld.bought("n1")
            _ = try await server.send(.post, "/v1/signals/app-store", body: sent)
            let size = try server.ledger.questions.size()
            try #require(size > first + 1, "a signal of several events")
            try await body(server, PageVisitor(server, with: .read), first..<size)
        }
    }

    private static func path(_ sequence: UInt64) -> String { "/console/events/\(sequence)" }

    /// The page's JSON without what is told of its evidence.
    private static func rest(_ json: JSONValue) -> [JSONMember] {
        (json.members ?? []).filter { !["verdict", "certificates"].contains($0.name) }
    }

    private static let unreadable = "It cannot be read; an audit says what is damaged:"

    // row 8.5, Z17
    @Test func `says of damaged evidence that it cannot be read, and shows the rest`() async throws
    {
        try await Self.withSignal { server, visitor, signal in
            for sequence in signal {
                let path = Self.path(sequence)
                let sound = try await visitor.get(path + ".json").json
                #expect(sound["verdict"] == "verified", "the control: it holds")
                server.storage.damage = .attached(signal.lowerBound)
                let damaged = try await visitor.get(path + ".json")
                #expect(damaged.status == 200, "\(damaged.body)")
                #expect(damaged.json["verdict"] == "damaged")
                #expect(damaged.json["certificates"] == .array([]))
                #expect(Self.rest(damaged.json) == Self.rest(sound))
                let page = try PageText(try await visitor.get(path).body)
                #expect(page.texts.contains(Self.unreadable))
                #expect(page.texts.contains { $0.contains("first of its id") })
                #expect(!page.texts.contains("Signed by"))
                server.storage.damage = nil
            }
        }
    }

    // Z17: whichever record the evidence belongs to
    @Test(arguments: [0, 60])
    func `says of a damaged record that it cannot be read, and shows the others of its signal`(
        byte: Int
    ) async throws {
        try await Self.withSignal { server, visitor, signal in
            let first = signal.lowerBound
            let sound = try await visitor.get(Self.path(first + 1) + ".json").json
            server.storage.damage = .record(first, byte: byte)
            let own = try await visitor.get(Self.path(first))
            #expect(own.status == 500)
            let says = "the record of event \(first) cannot be read"
            #expect(try PageText(own.body).texts.contains { $0.hasPrefix(says) }, "\(own.body)")
            let other = try await visitor.get(Self.path(first + 1) + ".json")
            #expect(other.status == 200, "\(other.body)")
            #expect(other.json["verdict"] == "damaged")
            #expect(Self.rest(other.json) == Self.rest(sound))
            let page = try PageText(try await visitor.get(Self.path(first + 1)).body)
            #expect(page.texts.contains(Self.unreadable))
            server.storage.damage = nil
            #expect(try await visitor.get(Self.path(first)).status == 200, "the control")
        }
    }

    /// Two renewals of one purchase; what a damaged one said nobody knows.
    private static func renew(_ server: TestServer) throws -> (first: UInt64, second: UInt64) {
        for id in ["r1", "r2"] {
            try `The page of a customer`.record(
                server,
                id,
                .purchaseRenewed,
                at: noon,
                [
                    .transactionID: .text(id), .productID: .text("p"),
                    .productKind: .text("auto_renewable"),
                    .expiresAt: .instant(noon.plus(seconds: 86_400)),
                ]
            )
        }
        let size = try server.ledger.questions.size()
        return (size - 2, size - 1)
    }

    // Z17: 60 is a byte of what stands for its id
    @Test(arguments: [0, 60])
    func `does not say that an event is the first of its id where an earlier one is damaged`(
        byte: Int
    ) async throws {
        try await TestServer.with { server in
            let (first, second) = try Self.renew(server)
            let visitor = try PageVisitor(server, with: .read)
            let sound = try await visitor.get(Self.path(second) + ".json").json
            #expect(sound["repeats"] == .null, "the control: it is the first")
            server.storage.damage = .record(first, byte: byte)
            let damaged = try await visitor.get(Self.path(second) + ".json")
            #expect(damaged.status == 200, "\(damaged.body)")
            #expect(damaged.json["repeats"] == nil)
            #expect(damaged.json["sentence"] == sound["sentence"])
            let texts = try PageText(try await visitor.get(Self.path(second)).body).texts
            #expect(texts.contains { $0.contains("cannot be told") })
            #expect(!texts.contains { $0.contains("first of its id") })
            server.storage.damage = nil
        }
    }

    // E1: as a log holds it that another program wrote
    @Test func `leads from a repeat to the first of its id`() async throws {
        try await TestServer.with { server in
            let (first, second) = try Self.renew(server)
            let again = try Self.appendAgain(first, to: server.storage)
            let visitor = try PageVisitor(server, with: .read)
            let json = try await visitor.get(Self.path(again) + ".json").json
            #expect(json["repeats"]?.integer == Int64(first))
            let page = try PageText(try await visitor.get(Self.path(again)).body)
            #expect(page.texts.contains { $0.contains("It repeats an earlier event") })
            #expect(page.texts.contains(String(first)))
            #expect(page.links.contains(Self.path(first)))
            // The control: neither the first nor another of its kind is one.
            for sequence in [first, second] {
                let json = try await visitor.get(Self.path(sequence) + ".json").json
                #expect(json["repeats"] == .null, "\(sequence)")
            }
        }
    }

    /// Appends a record once more, as the next one.
    private static func appendAgain(
        _ sequence: UInt64,
        to storage: FaultyLog
    ) throws -> UInt64 {
        let last = try storage.end()
        var record: [UInt8] = []
        try storage.readRecords([sequence]) { record = $1.copy() }
        func put(_ number: UInt64, _ place: Range<Int>) {
            for (shift, index) in place.enumerated() {
                record[index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * shift))
            }
        }
        put(last.size, 8..<16)
        put(UInt64(bitPattern: last.lastRecordedAt), 16..<24)
        let end = record.count - 4
        let checksum = CRC32C.checksum(record.span.extracting(0..<end))
        put(UInt64(checksum), end..<record.count)
        var copy = try RecordCopy(into: storage)
        try copy.append(record)
        _ = try copy.finish()
        return last.size
    }
}
