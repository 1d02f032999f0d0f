import Encodings
import Entitlements
import EventLog
import LedgerAPI
import Stores
import Testing

@testable import EntitlementLedger

/// E1 and E2: what is handed in again, and what is handed in together.
struct `A submission that is handed in again` {
    private static let subject = "customer/ann"
    private static let data = #"{"grantId":"g","features":["export"],"reason":"sorry"}"#

    private static func original() throws -> Event {
        try Sample.event("e1", "grant.given", subject, data: data)
    }

    // E1; row 6.3
    @Test func `is a duplicate if it says the same`() async throws {
        try await ScratchLedger.with { scratch in
            let submission = Submission(event: try Self.original())
            #expect(try scratch.ledger.appender.record(submission) == .appended(first: 0, count: 1))
            #expect(try scratch.ledger.appender.record(submission) == .duplicate(of: 0))
            #expect(
                try scratch.ledger.appender.record([submission, submission])
                    == [.duplicate(of: 0), .duplicate(of: 0)]
            )
            try scratch.reopenWithoutViews()
            #expect(try scratch.ledger.appender.record(submission) == .duplicate(of: 0))
            #expect(try scratch.ledger.questions.size() == 1)
        }
    }

    /// What differs, and the path that the refusal names.
    static let differences:
        [(path: String, type: String, subject: String, data: String, day: Int64)] =
            [
                ("type", "flow.started", subject, #"{"flowId":"f"}"#, 1),
                ("subject", "grant.given", "customer/bob", data, 1),
                ("time", "grant.given", subject, data, 2),
                (
                    "data.observedAt", "grant.given", subject,
                    #"{"grantId":"g","features":["export"],"reason":"sorry","observedAt":"2026-03-01T00:00:00Z"}"#,
                    1
                ),
                (
                    "data.grantId", "grant.given", subject,
                    #"{"grantId":"h","features":["export"],"reason":"sorry"}"#, 1
                ),
                (
                    "data.features", "grant.given", subject,
                    #"{"grantId":"g","features":["scan"],"reason":"sorry"}"#, 1
                ),
                ("data.features", "grant.given", subject, #"{"grantId":"g","reason":"sorry"}"#, 1),
                (
                    "data.reason", "grant.given", subject,
                    #"{"grantId":"g","features":["export"],"reason":"so"}"#, 1
                ),
                (
                    "data.tier", "grant.given", subject,
                    #"{"grantId":"g","features":["export"],"reason":"sorry","tier":"pro"}"#, 1
                ),
                (
                    "data.expiresAt", "grant.given", subject,
                    #"{"grantId":"g","features":["export"],"reason":"sorry","expiresAt":"2026-03-01T00:00:00Z"}"#,
                    1
                ),
            ]

    // E1: other content under a known id, one difference at a time
    @Test(arguments: differences)
    func `is a conflict that names what differs`(
        _ row: (path: String, type: String, subject: String, data: String, day: Int64)
    ) async throws {
        try await ScratchLedger.with { scratch in
            let first = Submission(event: try Self.original())
            let other = Submission(
                event: try Sample.event(
                    "e1",
                    row.type,
                    row.subject,
                    data: row.data,
                    time: Sample.day(row.day)
                )
            )
            // Once within one group, once against the log.
            let receipts =
                try scratch.ledger.appender.record([first, other]) + [
                    scratch.ledger.appender.record(other)
                ]
            #expect(receipts[0] == .appended(first: 0, count: 1))
            for receipt in receipts[1...] {
                guard case .refused(let refusal) = receipt else {
                    Issue.record("\(receipt)")
                    continue
                }
                #expect(refusal.code == .conflict)
                let named = refusal.path.split(separator: ", ").map(String.init)
                #expect(named.contains(row.path), "\(refusal.path)")
                // `time` moves `observedAt` along, a type its fields; nothing else is named.
                if !["type", "time"].contains(row.path) { #expect(named == [row.path]) }
            }
            #expect(try scratch.ledger.questions.size() == 1)
        }
    }

    // E1: unique by environment and source
    @Test func `is another event in another environment or from another source`() async throws {
        try await ScratchLedger.with { scratch in
            var event = try Self.original()
            #expect(
                try scratch.ledger.appender.record(Submission(event: event))
                    == .appended(first: 0, count: 1)
            )
            event.environment = .sandbox
            #expect(
                try scratch.ledger.appender.record(Submission(event: event))
                    == .appended(first: 1, count: 1)
            )
            event.source = Source.app
            #expect(
                try scratch.ledger.appender.record(Submission(event: event))
                    == .appended(first: 2, count: 1)
            )
        }
    }

    // E1, law 5: a signal has its first outcome, whatever it says now
    @Test func `is a duplicate if it is a store's signal, whatever it says now`() async throws {
        try await ScratchLedger.with { scratch in
            let first = try RevenueCatBody.submission(
                id: "s1",
                user: "ann",
                expiration: 1_769_904_000_000
            )
            let again = try RevenueCatBody.submission(
                id: "s1",
                user: "bob",
                expiration: 1_799_904_000_000
            )
            guard case .appended(0, let count) = try scratch.ledger.appender.record(first) else {
                Issue.record("not appended")
                return
            }
            #expect(count > 2)
            #expect(try scratch.ledger.appender.record(again) == .duplicate(of: 0))
            #expect(try scratch.ledger.questions.size() == UInt64(count))
        }
    }

    // E1: an exported event is known by its own id, `s1#2` too
    @Test func `is a duplicate if it is the ledger's own export`() async throws {
        try await ScratchLedger.with { scratch in
            let signal = try RevenueCatBody.submission(
                id: "s1",
                user: "ann",
                expiration: 1_769_904_000_000
            )
            _ = try scratch.ledger.appender.record(signal)
            let size = try scratch.ledger.questions.size()
            var exported: [Event] = []
            try scratch.ledger.questions.events(EventFilter(sequences: 0..<size)) { _, json in
                exported.append(try Event(validating: json))
                return true
            }
            #expect(exported.count == Int(size))
            for (index, event) in exported.enumerated() {
                let receipt = try scratch.ledger.appender.record(Submission(event: event))
                #expect(receipt == .duplicate(of: UInt64(index)))
            }
        }
    }

    // E1: of several accesses to one customer each is known by its own id
    @Test func `adds nothing if it is an access that was noted`() async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(Submission(event: try Self.original()))
            let accesses = ["a1", "a2", "a1", "a3"].map { id in
                CustomerAccess(
                    id: id,
                    customer: "ann",
                    environment: .production,
                    actor: "key",
                    action: "exportCustomer",
                    reason: nil,
                    time: Sample.day(1)
                )
            }
            try scratch.ledger.appender.logAccess(Array(accesses[...2]))
            #expect(try scratch.ledger.questions.size() == 3)
            try scratch.ledger.appender.logAccess(Array(accesses[1...]))
            #expect(try scratch.ledger.questions.size() == 4)
            let ids = try (1..<4).map { try scratch.ledger.questions.event(at: $0)?.event.id }
            #expect(ids == ["a1", "a2", "a3"])
        }
    }

    // E1: what settled it may be itself
    @Test func `has its first outcome if it was recorded while it was decided`() async throws {
        try await ScratchLedger.with { scratch in
            let pipeline = try scratch.ledger.appender.pipeline
            let request = Request(id: "e1", source: Source.app, environment: .production)
            #expect(try pipeline.record(Overtaken(request: request)) == .duplicate(of: 0))
            // The control: of one that is not known it stands what it settled.
            let other = Request(id: "e2", source: Source.app, environment: .production)
            #expect(try pipeline.record(Overtaken(request: request, named: other)) == .known)
        }
    }

    /// Records a request while it is decided, and settles then that it says nothing new.
    private struct Overtaken: Proposal {
        var request: Request
        /// What it is known by; nil: the request.
        var named: Request?

        func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: named ?? request) }

        func decision(
            in pipeline: Pipeline,
            as signal: SignalDigest,
            after earlier: UInt64?
        ) throws -> Decision<Receipt> {
            if let earlier { return .settled(.duplicate(of: earlier)) }
            _ = try pipeline.record(
                RequestProposal(
                    request: request,
                    customer: "ann",
                    data: EventData(.trialStarted, [.trialID: .text("week")])
                ) { _, _ in .record }
            )
            return .settled(.known)
        }
    }

    // E1, K1: a catalog is its own source's, whoever publishes it, and has its first time
    @Test func `is a duplicate if it is a catalog that names no time`() async throws {
        try await ScratchLedger.with { scratch in
            let request = Request(id: "c1", source: Source.support, environment: .production)
            let catalog = try Sample.catalog(count: 3)
            let publish = {
                try scratch.ledger.appender.publish(catalog, effective: nil, request)
            }
            #expect(try publish() == .appended(first: 0, count: 1))
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 5)
            #expect(try publish() == .duplicate(of: 0))
        }
    }

    // E1: the order of an object's members says nothing, at whatever depth; that of a list does.
    @Test(arguments: [
        (#"{"id":"b","level":"free"},{"id":"a"}"#, false),
        (#"{"level":"free","id":"b"},{"id":"a"}"#, true),
        (#"{"id":"a"},{"id":"b","level":"free"}"#, false),
    ])
    func `is a duplicate if it is a catalog in another order`(
        _ features: String,
        _ isSwapped: Bool
    ) async throws {
        try await ScratchLedger.with { scratch in
            func publish(_ features: String) throws -> Receipt {
                try scratch.ledger.appender.publish(
                    Sample.json(#"{"tiers":["free"],"features":[\#(features)],"products":[]}"#),
                    effective: nil,
                    Request(id: "c1", source: Source.support, environment: .production)
                )
            }
            let first = #"{"id":"b","level":"free"},{"id":"a"}"#
            #expect(try publish(first) == .appended(first: 0, count: 1))
            let again = try publish(features)
            #expect((again == .duplicate(of: 0)) == (isSwapped || features == first), "\(again)")
        }
    }

    // E2: all events of a submission or none
    @Test func `appends nothing if one of its events is too long`() async throws {
        try await ScratchLedger.with { scratch in
            let short = try Self.original()
            var long = short
            long.data = EventData(
                .grantGiven,
                [
                    .grantID: .text("g"),
                    .features: .texts(Array(repeating: "feature-of-a-size", count: 5000)),
                ]
            )
            let submission = Submission(
                id: "e1",
                source: Source.support,
                environment: .production,
                nature: .request,
                drafts: [short, long, short].map(\.draft)
            )
            let next = Submission(
                event: try Sample.event(
                    "e2",
                    "grant.withdrawn",
                    Self.subject,
                    data: #"{"grantId":"g"}"#
                )
            )
            let receipts = try scratch.ledger.appender.record([submission, next])
            guard case .refused(let refusal) = receipts[0] else {
                Issue.record("\(receipts[0])")
                return
            }
            #expect(refusal.code == .tooLarge)
            #expect(receipts[1] == .appended(first: 0, count: 1))
            #expect(try scratch.ledger.questions.size() == 1)
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }

    // E2: one after the other
    @Test func `stands in one piece beside others of its group`() async throws {
        try await ScratchLedger.with { scratch in
            let signals = try (0..<20).map {
                try RevenueCatBody.submission(
                    id: "s\($0)",
                    user: "u\($0)",
                    expiration: 1_769_904_000_000
                )
            }
            let ledger = scratch.ledger
            let receipts = try await withThrowingTaskGroup { group in
                for signal in signals {
                    group.addTask { try await ledger.appender.record(concurrently: signal) }
                }
                var receipts: [Receipt] = []
                for try await receipt in group { receipts.append(receipt) }
                return receipts
            }
            var ranges: [Range<UInt64>] = []
            for case .appended(let first, let count) in receipts {
                ranges.append(first..<first + UInt64(count))
            }
            ranges.sort { $0.lowerBound < $1.lowerBound }
            #expect(ranges.count == signals.count)
            #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            for range in ranges {
                let ids = try range.map { try ledger.questions.event(at: $0)?.event.id }
                let signal = ids[0] ?? ""
                let expected = ids.indices.map { $0 == 0 ? signal : "\(signal)#\($0 + 1)" }
                #expect(ids == expected)
            }
        }
    }
}
