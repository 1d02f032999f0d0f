import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// What is open, by what is known and an instant (rows CL6, 4.3, 4.4).
struct `A feature's gate` {
    private static let authority = SnapshotAuthority()

    private static func gate(
        _ entitlements: CustomerEntitlements,
        at instant: Instant
    ) throws -> FeatureGate {
        FeatureGate(entitlements, gates: try sampleGates(), at: instant)
    }

    // row 4.3
    @Test func `says yes with its reason, until when, and from where`() throws {
        let decision = try Self.gate(Self.authority.entitlements(), at: noon.plus(days: 1))
            .decision("export")
        #expect(decision.isOpen && decision.isUsable && decision.reason == .purchase)
        #expect(decision.until == noon.plus(days: 30) && decision.source == .server)
        #expect(decision.sources == ["app_store/1"] && decision.requiredProducts == [])
    }

    // row Z16: nobody is told; the end is known
    @Test func `closes at its end while nobody is reached`() throws {
        let known = try Self.authority.entitlements()
        let end = noon.plus(days: 30)
        #expect(try Self.gate(known, at: end.advanced(byMilliseconds: -1)).isOpen("export"))
        #expect(try !Self.gate(known, at: end).isOpen("export"))
        // Before it only windows of `scan` end, each a day behind the one before it.
        let last = noon.plus(days: 29).plus(seconds: 3600)
        #expect(known.nextChange(after: last) == end)
    }

    // rows 4.4, B3
    @Test func `says no with what opens it`() throws {
        let known = try Self.authority.entitlements(until: noon)
        let gate = try Self.gate(known, at: noon)
        let decision = gate.decision("export")
        #expect(!decision.isOpen && decision.reason == AccessReason.none)
        #expect(decision.requiredProducts == ["pro.month"])
        let thrown = #expect(throws: SubscriptionRequired.self) { try gate.require("export") }
        #expect(thrown?.feature == "export" && thrown?.products == ["pro.month"])
        #expect(thrown?.serviceError.message(in: .japanese).isEmpty == false)
        try gate.require("scan")
    }

    // row Z17: what is old counts, and says so
    @Test func `goes by a lifetime's stretch for years, and says that it is old`() throws {
        let known = try Self.authority.entitlements(until: nil)
        for (days, isStale) in [(29, false), (31, true), (3650, true)] as [(Int64, Bool)] {
            let decision = try Self.gate(known, at: noon.plus(days: days)).decision("export")
            #expect(decision.isOpen && decision.isStale == isStale, "\(days) days")
        }
    }

    // row Z17: a clock that is behind the server's closes nothing that is open there
    @Test func `is as open to a clock set back as to the server's`() throws {
        let gate = try Self.gate(Self.authority.entitlements(), at: noon.plus(days: -400))
        #expect(gate.isOpen("export") && gate.decision("export").isOpen)
    }

    // rows B8, B6
    @Test func `opens what is free where nothing is known, and nothing else`() throws {
        let gate = try Self.gate(CustomerEntitlements(unknown: nil), at: noon)
        #expect(gate.isOpen("scan") && gate.decision("scan").reason == .free)
        #expect(gate.decision("scan").isStale && gate.decision("scan").source == .builtIn)
        #expect(!gate.isOpen("export") && !gate.isOpen("no such feature"))
        let none = FeatureGate(CustomerEntitlements(unknown: nil), gates: nil, at: noon)
        #expect(!none.isOpen("scan"))
    }

    // row B6: the map answers for what the server said nothing of
    @Test func `asks the map for what the server did not speak of`() throws {
        let gate = try Self.gate(Self.authority.entitlements(), at: noon)
        #expect(gate.isOpen("help") && !gate.isOpen("share"))
    }

    // row C5: a window ends by the clock
    @Test func `has a whole window again behind the end of one that is used up`() throws {
        let known = try Self.authority.entitlements()
        let used = try Self.gate(known, at: noon).decision("scan")
        #expect(used.isOpen && !used.isUsable && used.limit?.remaining == 0)
        let reset = noon.plus(seconds: 3600)
        for days in [0, 1, 400] as [Int64] {
            let later = try Self.gate(known, at: reset.plus(days: days)).decision("scan")
            #expect(later.isUsable && later.limit?.remaining == 3)
            #expect(later.limit?.resetsAt == reset.plus(days: days + 1))
            #expect(
                known.nextChange(after: reset.plus(days: days)) == reset.plus(days: days + 1)
            )
        }
    }

    // C5: midnights of the server's zone
    @Test(
        arguments: [
            (.day, "2026-03-01T15:00:00Z", "2026-03-01T15:00:00Z", "2026-03-02T15:00:00Z"),
            (.week, "2026-03-01T23:00:00Z", "2026-03-20T00:00:00Z", "2026-03-22T23:00:00Z"),
            (.month, "2026-01-31T15:00:00Z", "2026-02-28T14:59:59Z", "2026-02-28T15:00:00Z"),
            (.month, "2026-12-01T08:00:00Z", "2027-01-15T00:00:00Z", "2027-02-01T08:00:00Z"),
            // The control: no midnight of a month's first day.
            (.month, "2026-12-10T08:00:00Z", "2027-01-15T00:00:00Z", nil),
        ] as [(UsagePeriod, String, String, String?)]
    )
    func `knows when later windows end`(
        period: UsagePeriod,
        end: String,
        now: String,
        next: String?
    ) throws {
        let end = try #require(Instant(rfc3339: end))
        let now = try #require(Instant(rfc3339: now))
        #expect(period.end(behind: end, after: now) == next.flatMap { Instant(rfc3339: $0) })
    }

    // row 3.4, K9
    @Test func `is open to what the store sells under an id of its own`() throws {
        let text = gateText.replacing(
            #""kind":"auto_renewable","tier""#,
            with: #""kind":"auto_renewable","stores":{"app_store":["com.example.7"]},"tier""#
        )
        let gates = try GateMap(json: JSONValue(parsing: Array(text.utf8)))
        for (id, isOpen) in [("com.example.7", true), ("pro.month", false)] {
            var known = CustomerEntitlements(unknown: SnapshotAuthority.customer)
            let bought = StoreTransaction(
                id: "1",
                originalID: "1",
                productID: id,
                expiresAt: nil,
                signed: "signed"
            )
            known.provisional = [ProvisionalAccess(bought, verifiedAt: noon)]
            #expect(FeatureGate(known, gates: gates, at: noon).isOpen("export") == isOpen, "\(id)")
        }
    }

    // row 3.4
    @Test func `is open to what the store verified, until its end and for a week`() throws {
        for (end, last) in [(3, 3), (30, 7), (nil, 7)] as [(Int64?, Int64)] {
            var known = CustomerEntitlements(unknown: SnapshotAuthority.customer)
            let bought = sampleTransaction(expiresAt: end.map { noon.plus(days: $0) })
            known.provisional = [ProvisionalAccess(bought, verifiedAt: noon)]
            let before = try Self.gate(known, at: noon.plus(days: last).plus(seconds: -1))
            #expect(before.isOpen("export") && !before.isOpen("no such feature"))
            let decision = before.decision("export")
            #expect(decision.source == .provisional && decision.until == noon.plus(days: last))
            #expect(try !Self.gate(known, at: noon.plus(days: last)).isOpen("export"))
        }
    }

    // row 3.4: the store holds a pass for a day for good, and never says that it is over
    @Test(arguments: [(0, 7), (1, 6), (7, 0), (1000, 0)] as [(Int64, Int64)])
    func `is open to what does not renew itself for a week since it was bought`(
        _ age: Int64,
        _ left: Int64
    ) throws {
        let bought = StoreTransaction(
            id: "1",
            originalID: "1",
            productID: "pro.month",
            expiresAt: nil,
            signed: "signed",
            nonRenewingSince: noon.plus(days: -age)
        )
        var known = CustomerEntitlements(unknown: SnapshotAuthority.customer)
        known.provisional = [ProvisionalAccess(bought, verifiedAt: noon)]
        let end = noon.plus(days: left)
        #expect(try !Self.gate(known, at: end).isOpen("export"))
        let isOpen = try Self.gate(known, at: end.plus(seconds: -1)).isOpen("export")
        #expect(isOpen || left == 0)
        // As the queue keeps it.
        #expect(StoreTransaction(json: bought.json) == bought)
    }
}
