import Encodings
import Entitlements
import EventLog
import ModelSupport

@testable import EntitlementLedger

/// What the callers of a simulation ask for: few customers and purchases, so that they meet.
struct SimulatedCalls {
    static let customers: [CustomerID] = ["ann", "bob", "cy"]
    private static let purchases = ["1", "2"].map {
        PurchaseName(store: Source.appStore, originalID: $0)
    }

    /// Every call so far, to be delivered again.
    private(set) var made: [Call] = []
    /// What was asked for last.
    private var last: (@Sendable (Ledger, Request) throws -> Receipt)?
    /// Events in which every rule of the model meets.
    private let history: [Event]
    private var nextEvent = 0

    /// A call that may be made again under the same id.
    struct Call: Sendable {
        var id: String
        var source: String
        /// How many events it has at least.
        var leastCount = 1
        /// Decides and seals without handing in; nil: there is nothing to hand in.
        var seal: (@Sendable (Ledger) throws -> SealedSubmission?)?
        var body: @Sendable (Ledger) throws -> Receipt
    }

    init(seed: UInt64) {
        // C6: an erasure is not recorded so.
        history = RandomHistory(seed: seed, minimumSize: 8).log.map(\.event).filter {
            $0.kind != .customerErased && $0.kind != .catalogPublished
        }
    }

    /// A catalog with a limit, a trial and products.
    mutating func first() throws -> Call {
        let document = try Sample.catalog(count: 2)
        return keep(
            Call(id: "catalog", source: Source.catalog) {
                try $0.appender.publish(
                    document,
                    effective: .earliest,
                    Request(id: "catalog", source: Source.catalog, environment: .production)
                )
            }
        )
    }

    mutating func next(_ random: inout SplitMix64, now: Instant) -> Call {
        let customer = random.pick(Self.customers)
        // Somebody asks twice at once.
        if let last, random.chance(30) { return request(last) }
        switch random.next() % 100 {
        case 0..<30:
            if nextEvent < history.count {
                nextEvent += 1
                return keep(signal(Submission(event: history[nextEvent - 1])))
            }
            return keep(purchase(customer, &random, now))
        case 30..<42: return keep(purchase(customer, &random, now))
        case 42..<62:
            return request {
                try $0.appender.use("scan", by: customer, amount: nil, unit: nil, $1).receipt
            }
        case 62..<76: return request { try $0.appender.startTrial("week", for: customer, $1) }
        case 76..<84:
            let alias = random.pick(Self.customers)
            return request { try $0.appender.link(alias, to: customer, $1) }
        case 84..<91: return claim(random.pick(Self.purchases), by: customer)
        case 91..<93: return transfer(random.pick(Self.purchases), to: customer)
        case 93..<95: return release(random.pick(Self.purchases))
        default:
            return request { ledger, request in
                try ledger.appender.grant(
                    "g",
                    to: customer,
                    features: ["export"],
                    tier: nil,
                    expiresAt: nil,
                    reason: nil,
                    request
                )
            }
        }
    }

    private mutating func keep(_ call: Call) -> Call {
        made.append(call)
        return call
    }

    private mutating func request(
        by source: String = Source.app,
        _ body: @escaping @Sendable (Ledger, Request) throws -> Receipt
    ) -> Call {
        // Whoever asks twice at once is an app.
        if source == Source.app { last = body }
        let id = "r\(made.count)"
        let request = Request(id: id, source: source, environment: .production)
        return keep(Call(id: id, source: request.source) { try body($0, request) })
    }

    private mutating func transfer(_ purchase: PurchaseName, to customer: CustomerID) -> Call {
        ownerChange(of: purchase, .transfer(to: customer)) {
            try $0.appender.transfer(purchase, to: customer, reason: "asked", $1)
        }
    }

    private mutating func release(_ purchase: PurchaseName) -> Call {
        ownerChange(of: purchase, .release) {
            try $0.appender.release(purchase, reason: "asked", $1)
        }
    }

    /// What support asks for: the change, and why; like a claim decided ahead, perhaps (E4).
    private mutating func ownerChange(
        of purchase: PurchaseName,
        _ change: OwnerChange,
        _ body: @escaping @Sendable (Ledger, Request) throws -> OwnerOutcome
    ) -> Call {
        var call = request(by: Source.support) { try body($0, $1).receipt }
        call.leastCount = 2
        let request = Request(id: call.id, source: call.source, environment: .production)
        call.seal = { ledger in
            let proposal = OwnerProposal(
                request: request,
                purchase: purchase,
                change: change,
                reason: "asked"
            )
            return try ledger.appender.pipeline.decision(of: proposal).submission
        }
        made[made.count - 1] = call
        return call
    }

    private func signal(_ submission: Submission) -> Call {
        Call(
            id: submission.id,
            source: submission.source,
            leastCount: submission.drafts.count,
            seal: { ledger in
                let proposal = SubmissionProposal(submission: submission)
                return try ledger.appender.pipeline.decision(of: proposal).submission
            },
            body: { try $0.appender.record(submission) }
        )
    }

    /// A claim, which may be decided long before it is handed in (E4).
    private mutating func claim(_ purchase: PurchaseName, by customer: CustomerID) -> Call {
        var call = request { try $0.appender.claim(purchase, for: customer, $1) }
        let request = Request(id: call.id, source: call.source, environment: .production)
        call.seal = { ledger in
            let proposal = RequestProposal(claiming: purchase, for: customer, request)
            return try ledger.appender.pipeline.decision(of: proposal).submission
        }
        made[made.count - 1] = call
        return call
    }

    /// A store's signal: a period and its verdict, with the owner and another name of theirs.
    private func purchase(
        _ customer: CustomerID,
        _ random: inout SplitMix64,
        _ now: Instant
    ) -> Call {
        let id = "s\(made.count)"
        let name = random.pick(Self.purchases)
        let transaction = FieldValue.text("t\(random.next() % 4)")
        let period = EventData(
            .purchaseRenewed,
            [
                .transactionID: transaction, .productID: .text("pro.month"),
                .productKind: .text("auto_renewable"),
                .expiresAt: .instant(now.advanced(byMilliseconds: 86_400_000)),
                .account: .text(customer.text),
            ]
        )
        let verdict = EventData(.verificationPassed, [.method: .text("app_store_jws")])
        let drafts = [period, verdict].map { data in
            EventDraft(subject: .purchase(name), time: now, data: data)
        }
        let alias = random.pick(Self.customers)
        return signal(
            Submission(
                id: id,
                source: Source.appStore,
                environment: .production,
                nature: .signal,
                drafts: drafts,
                evidence: random.chance(30) ? Array(id.utf8) : nil,
                links: random.chance(30)
                    ? [LinkProposal(customer: customer, alias: alias, time: now, observedAt: now)]
                    : []
            )
        )
    }
}
