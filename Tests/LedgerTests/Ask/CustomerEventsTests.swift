import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import Testing

/// Whose events are listed where others have been of one name or one purchase with a customer (C1, C2, P13).
struct `Events of a customer or a purchase` {
    private static func link(_ alias: String, to customer: String) -> String {
        Sample.line(
            customer + "-" + alias,
            "customer.linked",
            "customer/" + customer,
            data: #"{"alias":"\#(alias)"}"#
        )
    }

    private static func sequences(
        _ scratch: ScratchLedger,
        customer: CustomerID? = nil,
        purchase: String? = nil
    ) throws -> [UInt64] {
        var filter = EventFilter(sequences: 0..<UInt64.max)
        filter.customer = customer
        filter.purchase = try purchase.map { try #require(PurchaseName($0)) }
        return try scratch.sequences(filter)
    }

    /// The sequences of the events that a timeline lists.
    private static func timeline(
        _ scratch: ScratchLedger,
        of customer: CustomerID
    ) throws -> [UInt64] {
        let answer = try scratch.ledger.questions.timelineAnswer(
            CustomerQuestion(
                customer: customer,
                environment: .production,
                point: BitemporalPoint(at: Sample.day(9), knownAt: .everything)
            )
        )
        return answer.answer.events.map(\.sequence)
    }

    // C1: a transfer brings purchases, and nothing else that whom it takes from has.
    @Test func `have nothing that is of whom a transfer takes from`() async throws {
        try await ScratchLedger.with { scratch in
            let transfer = Sample.line(
                "transfer",
                "customer.transferred",
                "customer/alice",
                data: #"{"from":["bob"]}"#
            )
            // All of one instant: what bob claims behind the transfer was never alice's.
            let lines =
                Sample.ownedPurchase("bob", "app_store/1")
                + [Sample.grantLine("bobs", to: "bob"), transfer]
                + Sample.ownedPurchase("bob", "app_store/2") + [
                    Sample.grantLine("hers", to: "alice")
                ]
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            #expect(try Self.sequences(scratch, customer: "alice") == [0, 1, 2, 4, 8])
            #expect(try Self.timeline(scratch, of: "alice") == [0, 1, 2, 4, 8])
            #expect(try Self.sequences(scratch, customer: "bob") == Array(0..<8))
        }
    }

    // C2: a name is whose the last link says.
    @Test func `have nothing of a customer who had the same name at another time`() async throws {
        try await ScratchLedger.with { scratch in
            let lines = [
                Sample.grantLine("nobodys", to: "anon"), Self.link("anon", to: "alice"),
                Sample.grantLine("hers", to: "alice"), Self.link("anon", to: "carol"),
                Sample.grantLine("carols", to: "carol"),
            ]
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            #expect(try Self.sequences(scratch, customer: "alice") == [1, 2])
            #expect(try Self.timeline(scratch, of: "alice") == [1, 2])
            for name in ["carol", "anon"] as [CustomerID] {
                #expect(try Self.sequences(scratch, customer: name) == [0, 1, 3, 4])
            }
        }
    }

    // P13
    @Test func `have nothing of a purchase that had the same name at another time`() async throws {
        try await ScratchLedger.with { scratch in
            let names = ["app_store/1", "app_store/2"]
            let links = names.map {
                Sample.line(
                    "link-" + $0,
                    "purchase.linked",
                    "purchase/" + $0,
                    data: #"{"alias":"app_store/3"}"#
                )
            }
            let lines = names.map { Sample.purchaseLine("buy-" + $0, $0) } + links
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            #expect(try Self.sequences(scratch, purchase: names[0]) == [0, 2])
            #expect(try Self.sequences(scratch, purchase: names[1]) == [1, 2, 3])
            #expect(try Self.sequences(scratch, purchase: "app_store/3") == [1, 2, 3])
        }
    }

    @Test(
        arguments: [
            (nil, "app_store/1", [0, 1, 2]), ("ann", nil, [0, 1, 2, 3]),
            ("ann", "app_store/1", [0, 1, 2]), ("ann", "app_store/2", []),
            ("ann", "app_store/9", []), ("nobody", "app_store/1", []),
        ] as [(CustomerID?, String?, [UInt64])]
    )
    func `are of both where both are named`(
        _ customer: CustomerID?,
        _ purchase: String?,
        _ expected: [UInt64]
    ) async throws {
        try await ScratchLedger.with { scratch in
            let lines =
                Sample.ownedPurchase("ann", "app_store/1") + [Sample.grantLine("g", to: "ann")]
                + Sample.ownedPurchase("bob", "app_store/2")
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            let found = try Self.sequences(scratch, customer: customer, purchase: purchase)
            #expect(found == expected)
        }
    }
}
