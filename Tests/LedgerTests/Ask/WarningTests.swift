import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import ModelSupport
import Testing

/// What a state warns of beside what the catalog lacks.
struct `A warning` {
    private static func with(_ body: (ScratchLedger) async throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            try await body(scratch)
        }
    }

    /// The codes of what is warned of.
    private static func codes(
        _ customer: CustomerID,
        _ scratch: ScratchLedger,
        day: Int64 = 40,
        known: BitemporalPoint.Known = .everything,
        to visibility: Visibility = .everything
    ) throws -> [String] {
        let question = CustomerQuestion(
            customer: customer,
            environment: .production,
            point: BitemporalPoint(at: Sample.day(day), knownAt: known),
            visibility: visibility
        )
        let warnings = try scratch.ledger.questions.show(question)["warnings"]?.array ?? []
        return warnings.compactMap { $0["code"]?.string }
    }

    private static func record(_ scratch: ScratchLedger, _ lines: [String]) throws {
        _ = try scratch.ledger.appender.record(Sample.submissions(lines))
    }

    @Test func `tells of somebody of whom nothing was ever recorded, as known at R`()
        async throws
    {
        try await Self.with { scratch in
            #expect(try Self.codes("dan", scratch) == ["never_seen"])
            let before = try scratch.ledger.questions.size()
            // An event that decides nothing is something.
            let flow = #"{"flowId":"f1","productId":"pro.month","platform":"ios"}"#
            try Self.record(scratch, [Sample.line("f", "flow.started", "customer/dan", data: flow)])
            #expect(try Self.codes("dan", scratch) == [])
            #expect(try Self.codes("dan", scratch, known: .sequence(before)) == ["never_seen"])
            #expect(try Self.codes("danny", scratch) == ["never_seen"])
        }
    }

    // P9, P10: the period ends on the 1st of February, day 31.
    @Test func `tells that a renewal was expected, until the store has told`() async throws {
        try await Self.with { scratch in
            try Self.record(scratch, Sample.ownedPurchase("ann", "app_store/1"))
            #expect(try Self.codes("ann", scratch, day: 20) == [])
            #expect(try Self.codes("ann", scratch, day: 40) == ["renewal_expected"])
            let silent = try scratch.ledger.questions.size()
            try Self.record(
                scratch,
                [
                    Sample.line(
                        "gone",
                        "purchase.expired",
                        "purchase/app_store/1",
                        data: "{}",
                        time: Sample.day(31)
                    )
                ]
            )
            #expect(try Self.codes("ann", scratch, day: 40) == [])
            #expect(
                try Self.codes("ann", scratch, known: .sequence(silent)) == ["renewal_expected"]
            )
        }
    }

    @Test func `of a renewal is not given where none was to come`() async throws {
        try await Self.with { scratch in
            try Self.record(scratch, Sample.ownedPurchase("ann", "app_store/1"))
            try Self.record(
                scratch,
                [
                    Sample.line(
                        "off",
                        "purchase.renewal_changed",
                        "purchase/app_store/1",
                        data: #"{"autoRenew":false}"#,
                        time: Sample.day(3)
                    )
                ]
            )
            #expect(try Self.codes("ann", scratch) == [])
        }
    }

    // Stores, rule 7
    @Test func `tells that a claim by old evidence was not confirmed, until the store was asked`()
        async throws
    {
        try await Self.with { scratch in
            let now = scratch.clock.now
            let old = Sample.ownedPurchase("ann", "app_store/1", until: nil)
            try Self.record(scratch, Array(old.dropLast()))
            #expect(try Self.codes("ann", scratch) == ["never_seen"])
            func claim(_ customer: String, _ purchase: String) -> String {
                Sample.line(
                    "claim-now-" + purchase,
                    "customer.claimed",
                    "customer/" + customer,
                    data: #"{"purchase":"\#(purchase)"}"#,
                    time: now
                )
            }
            try Self.record(scratch, [claim("ann", "app_store/1")])
            #expect(try Self.codes("ann", scratch) == ["unconfirmed"])
            let before = try scratch.ledger.questions.size()
            func verdict(_ id: String, _ method: String, at time: Instant) -> String {
                Sample.line(
                    id,
                    "verification.passed",
                    "purchase/app_store/1",
                    data: #"{"method":"\#(method)"}"#,
                    time: time
                )
            }
            try Self.record(scratch, [verdict("again", "app_store_jws", at: now)])
            try Self.record(scratch, [verdict("late", "store_api", at: Sample.newYear)])
            #expect(try Self.codes("ann", scratch) == ["unconfirmed"])
            try Self.record(scratch, [verdict("asked", "store_api", at: now)])
            #expect(try Self.codes("ann", scratch) == [])
            #expect(try Self.codes("ann", scratch, known: .sequence(before)) == ["unconfirmed"])
            // Neither what was heard in time nor a claim of long ago, that is told now.
            let fresh = Sample.line(
                "heard",
                "verification.passed",
                "purchase/app_store/2",
                data: #"{"method":"app_store_jws"}"#,
                time: now
            )
            try Self.record(
                scratch,
                [Sample.purchaseLine("heard-2", "app_store/2", until: nil), fresh]
                    + [claim("ben", "app_store/2")]
                    + Sample.ownedPurchase("cleo", "app_store/3", until: nil)
            )
            #expect(try Self.codes("ben", scratch) == [])
            #expect(try Self.codes("cleo", scratch) == [])
        }
    }

    // Row 9.4: handed on on day 35; whether the next owner renewed is none of the former one's.
    @Test(arguments: [false, true])
    func `tells a former owner nothing of the next one`(_ isRenewed: Bool) async throws {
        try await Self.with { scratch in
            var lines = Sample.ownedPurchase("ann", "app_store/1")
            lines.append(
                Sample.line(
                    "handed",
                    "customer.transferred",
                    "customer/bob",
                    data: #"{"from":["ann"]}"#,
                    time: Sample.day(35)
                )
            )
            if isRenewed {
                lines.append(
                    Sample.line(
                        "again",
                        "purchase.renewed",
                        "purchase/app_store/1",
                        data: """
                            {"productId":"pro.month","productKind":"auto_renewable",\
                            "transactionId":"t2","expiresAt":"2026-04-01T00:00:00.000Z"}
                            """,
                        time: Sample.day(36)
                    )
                )
            }
            try Self.record(scratch, lines)
            let all = try Self.codes("ann", scratch, day: 33)
            #expect(all == (isRenewed ? [] : ["renewal_expected"]), "the control")
            #expect(try Self.codes("ann", scratch, day: 33, to: .own) == [])
        }
    }
}
