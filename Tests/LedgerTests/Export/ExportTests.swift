import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import ModelSupport
import Stores
import Testing

/// Row 8.6: a customer's log for support.
struct `An export` {
    private static func filled(_ body: (Ledger) throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            try body(scratch.ledger)
        }
    }

    // row 8.6
    @Test func `holds a customer's names, events, errors, evidence, state and explanations`()
        async throws
    {
        try await Self.filled { ledger in
            let export = try ExportSample.export(ledger, .none)
            let files = try ExportInMemory(export)
            let identity = try #require(files.json("identity.json").first)
            let names = identity["names"]?.array?.compactMap { $0["name"]?.string }
            #expect(Set(names ?? []) == Set(ExportSample.customers))
            #expect(identity["purchases"]?.array?.count == 1)
            var expected: [JSONValue] = []
            var filter = EventFilter(sequences: 0 ..< .max)
            filter.customer = ExportSample.customer
            try ledger.questions.events(filter) { _, event in
                expected.append(event)
                return true
            }
            #expect(try files.json("events.ndjson") == expected)
            #expect(expected.count == 10)
            // row 8.5: with the time of each
            let errors = try files.json("errors.ndjson")
            #expect(
                Set(errors.compactMap { $0["type"]?.string }) == [
                    "flow.failed", "failure.recorded",
                ]
            )
            #expect(errors.allSatisfy { $0["time"]?.string != nil })
            let evidence = try files.json("evidence.ndjson")
            #expect(evidence.count == 1)
            #expect(evidence[0]["content"]?.string?.contains("SIGNATURE-OF-APPLE") == true)
            let state = try #require(files.json("state.json").first)
            #expect(
                state
                    == (try ledger.questions.show(ExportSample.question()).json).withSequence(
                        of: state
                    )
            )
            let explained = try files.json("explanations.ndjson").compactMap {
                $0["feature"]?.string
            }
            #expect(explained == ["export", "scan"])
            #expect(try files.json("proofs.ndjson").count == expected.count)
        }
    }

    // C1, C2: what a transfer takes, and a name that was another's before, bring nobody else's with them.
    @Test func `holds nobody else's names, purchases and events`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            func line(_ type: String, _ customer: String, _ data: String) -> String {
                Sample.line("\(type)-\(customer)", type, "customer/" + customer, data: data)
            }
            let (alice, bob, carol) = ("alice-of-export", "bob-of-export", "carol-of-export")
            let alias = #"{"alias":"anon-of-export"}"#
            var lines = Sample.ownedPurchase(bob, "app_store/1")
            lines += [
                line("customer.transferred", alice, #"{"from":["\#(bob)"]}"#),
                line("customer.linked", alice, alias), line("customer.linked", carol, alias),
            ]
            lines += Sample.ownedPurchase(bob, "app_store/2")
            lines += Sample.ownedPurchase(carol, "app_store/3")
            _ = try ledger.appender.record(Sample.submissions(lines))
            let export = try ledger.exporter.export(
                ledger.exporter.exportPlan(
                    of: ExportSample.question(try #require(CustomerID(alice))),
                    redaction: .none,
                    formats: [.ndjson]
                ),
                reading: StoredEvidenceNames()
            )
            let files = try ExportInMemory(export)
            let identity = try #require(files.json("identity.json").first)
            func names(_ member: String) -> [String?]? {
                identity[member]?.array?.map { $0["name"]?.string }
            }
            #expect(names("names") == [alice])
            #expect(names("purchases") == ["app_store/1"])
            // Whose claim is among the events is noted, so that an erasure names the export (Z6).
            let named = try export.namedStreams()
            let former = try scratch.directory.vault.stream(
                of: StreamName(environment: 0, subject: "customer/\(bob)")
            )
            #expect(named.contains(try #require(former)))
            let events = try files.json("events.ndjson")
            // Claimed by bob, taken by her, and her link while it was in force.
            let sequences = events.compactMap { $0["sequence"]?.string.flatMap { UInt64($0) } }
            #expect(sequences == [0, 1, 2, 3, 4])
        }
    }

    // row Z4: the control of everything that is tampered with elsewhere
    @Test(arguments: ExportRedaction.allCases, ExportFormat.allCases)
    func `is found whole, by its ledger's key`(
        _ redaction: ExportRedaction,
        _ format: ExportFormat
    ) async throws {
        try await Self.filled { ledger in
            let export = try ExportSample.export(ledger, redaction, [format])
            let files = try ExportInMemory(export)
            let own = try ExportCheckAnswer(files, key: nil)
            let key = try VerifierKey(parsing: #require(own.key))
            if format == .sqlite {
                // The database itself is the command's.
                return #expect(own.records == 10)
            }
            let check = try ExportCheckAnswer(files, key: key)
            #expect(check.isOK, "\(check.faults)")
            #expect(check.records == 10 && check.isKeyGiven && !own.isKeyGiven)
        }
    }

    @Test(arguments: [0..<1, 0..<309, 7..<8, 255..<257, 300 ..< .max])
    func `of a range is whole, and tied to the checkpoint by a few hashes`(
        _ range: Range<UInt64>
    ) async throws {
        try await Self.filled { ledger in
            // Records behind the range and behind the checkpoint.
            let plan = try ledger.exporter.exportPlan(
                of: range,
                redaction: .all,
                formats: [.ndjson, .csv]
            )
            _ = try ledger.appender.record(
                Sample.submissions(Sample.ownedPurchase("late", "app_store/9"))
            )
            let export = try ledger.exporter.export(plan, reading: StoredEvidenceNames())
            let files = try ExportInMemory(export)
            let check = try ExportCheckAnswer(files, key: nil)
            #expect(check.isOK, "\(check.faults)")
            #expect(check.records == export.recordCount && check.records > 0)
            #expect(try files.json("proofs.ndjson").allSatisfy { $0["proof"] == nil })
        }
    }

    // What comes while it is written, or between a stop and going on, is in none of its files.
    @Test func `explains what was known when it was planned, also as of an instant to come`()
        async throws
    {
        try await Self.filled { ledger in
            var question = ExportSample.question()
            question.point.knownAt = .instant(Sample.day(3650))
            let plan = try ledger.exporter.exportPlan(
                of: question,
                redaction: .none,
                formats: [.ndjson]
            )
            func explanations(_ plan: ExportPlan) throws -> String {
                try ExportInMemory(ledger.exporter.export(plan, reading: StoredEvidenceNames()))
                    .text("explanations.ndjson")
            }
            let before = try explanations(plan)
            let late = Sample.line(
                "late",
                "grant.given",
                "customer/" + ExportSample.customer.text,
                data: #"{"grantId":"late","tier":"pro"}"#
            )
            _ = try ledger.appender.record(Sample.submissions([late]))
            #expect(try explanations(plan) == before)
            // The control
            let anew = try ledger.exporter.exportPlan(
                of: question,
                redaction: .none,
                formats: [.ndjson]
            )
            #expect(try explanations(anew) != before)
        }
    }

    @Test func `reads a piece at a time, from wherever it was`() async throws {
        try await Self.filled { ledger in
            let plan = try ledger.exporter.exportPlan(
                of: 0 ..< .max,
                redaction: .none,
                formats: [.ndjson]
            )
            let export = try ledger.exporter.export(plan, reading: StoredEvidenceNames())
            var position = LedgerExport.Position(.events)
            var pieces: [Int] = []
            while !position.isAtEnd {
                pieces.append(try export.next(&position).count)
            }
            #expect(pieces.reduce(0, +) == Int(export.recordCount))
            #expect(pieces.count > 1 && pieces.allSatisfy { $0 <= 256 })
        }
    }

    @Test func `goes on from its plan, also when the log has grown`() async throws {
        try await Self.filled { ledger in
            let plan = try ExportSample.export(ledger, .names).plan
            let before = try ExportInMemory(
                ledger.exporter.export(plan, reading: StoredEvidenceNames())
            )
            _ = try ledger.appender.record(
                Sample.submissions([
                    Sample.line(
                        "later",
                        "grant.given",
                        "customer/" + ExportSample.customers[0],
                        data: #"{"grantId":"later","tier":"pro"}"#
                    )
                ])
            )
            let read = try #require(
                ExportPlan(JSONValue(parsing: Array(plan.json.description.utf8)))
            )
            #expect(read == plan)
            #expect(
                try ExportInMemory(ledger.exporter.export(read, reading: StoredEvidenceNames()))
                    .files
                    == before.files
            )
            var foreign = plan
            foreign.checkpoint = foreign.checkpoint.replacing("ledger.test", with: "ledger.tost")
            #expect(throws: LedgerFault.self) {
                try ledger.exporter.export(foreign, reading: StoredEvidenceNames())
            }
            foreign = plan
            foreign.size += 1000
            #expect(throws: LedgerFault.self) {
                try ledger.exporter.export(foreign, reading: StoredEvidenceNames())
            }
        }
    }

    // C6: one who was erased is as one who never was
    @Test func `of somebody unknown is refused, and of an empty range`() async throws {
        try await Self.filled { ledger in
            let size = try ledger.questions.size()
            let unknown = #expect(throws: LedgerFault.self) {
                try ledger.exporter.exportPlan(
                    of: ExportSample.question("nobody"),
                    redaction: .none,
                    formats: [.ndjson]
                )
            }
            #expect(unknown?.code == .unknownCustomer)
            let empty = #expect(throws: LedgerFault.self) {
                try ledger.exporter.exportPlan(
                    of: size..<size + 9,
                    redaction: .all,
                    formats: [.ndjson]
                )
            }
            #expect(empty?.code == .emptyRange)
            #expect(try ledger.questions.size() == size)
        }
    }

    // row Z1: as known at R
    @Test func `holds only what was known`() async throws {
        try await Self.filled { ledger in
            var question = ExportSample.question()
            question.point.knownAt = .sequence(4)
            let plan = try ledger.exporter.exportPlan(
                of: question,
                redaction: .none,
                formats: [.ndjson]
            )
            let files = try ExportInMemory(
                ledger.exporter.export(plan, reading: StoredEvidenceNames())
            )
            #expect(try files.json("events.ndjson").count == 3)
            #expect(try ExportCheckAnswer(files, key: nil).isOK)
        }
    }

    // Random histories: what an export holds is what the ledger says, and is proven.
    @Test func `of anybody in a random history is whole`() async throws {
        var (histories, exported) = (0, 0)
        // Some histories have one customer only.
        while histories < 8 || exported <= 8 && histories < 100 {
            histories += 1
            let seed = UInt64.random(in: 0 ... .max)
            let history = RandomHistory(seed: seed).log.filter { $0.kind != .customerErased }
            let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
            try await ScratchLedger.with(clock: clock) { scratch in
                for recorded in history {
                    _ = try scratch.ledger.appender.record(Submission(event: recorded.event))
                }
                let customers = Set(
                    history.compactMap { event -> CustomerID? in
                        guard case .customer(let id) = event.event.subject,
                            event.event.environment == .production
                        else { return nil }
                        return id
                    }
                )
                for customer in customers.sorted().prefix(4) {
                    let plan = try scratch.ledger.exporter.exportPlan(
                        of: ExportSample.question(customer),
                        redaction: ExportRedaction.allCases[exported % 4],
                        formats: [.ndjson, .csv, .html]
                    )
                    let files = try ExportInMemory(
                        scratch.ledger.exporter.export(plan, reading: StoredEvidenceNames())
                    )
                    let check = try ExportCheckAnswer(files, key: nil)
                    #expect(check.isOK && check.records > 0, "seed \(seed): \(check.faults)")
                    exported += 1
                }
            }
        }
        #expect(exported > 8)
    }
}

extension JSONValue {
    /// The answer with another's size of the prefix and token: a checkpoint may stand between.
    fileprivate func withSequence(of other: JSONValue) -> JSONValue {
        .object(
            (members ?? []).map { member in
                ["sequence", "token"].contains(member.name)
                    ? JSONMember(member.name, other[member.name] ?? .null) : member
            }
        )
    }
}
