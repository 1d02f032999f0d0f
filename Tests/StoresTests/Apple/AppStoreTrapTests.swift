import Entitlements
import StoreSimulator
import Stores
import Testing

/// Messages of one purchase in some order of arrival, folded.
struct AppStoreHistory {
    private var events: [Event] = []

    mutating func take(_ submission: Submission) { events += submission.events }

    /// The purchase's timeline, all its messages taken.
    var timeline: PurchaseTimeline {
        var transactions: [String: UInt64] = [:]
        var names = FactNameTable()
        let facts = events.filter { $0.kind != .signalNoted }.enumerated().map { index, event in
            var fact = Fact(
                sequence: UInt64(index),
                kind: event.kind,
                time: event.time,
                observedAt: event.observedAt,
                subject: 1
            )
            fact.transaction = event.data.text(.transactionID).map { id in
                if let known = transactions[id] { return known }
                let number = UInt64(transactions.count + 1)
                transactions[id] = number
                return number
            }
            fact.end = event.data.instant(.expiresAt) ?? event.data.instant(.graceUntil)
            fact.label = event.data.text(.productID).map { names.name($0) }
            fact.nextProductID = event.data.text(.nextProductID).map { names.name($0) }
            fact.productKind = event.data.text(.productKind).flatMap(ProductKind.init(name:))
            fact.autoRenew = event.data.flag(.autoRenew)
            fact.store = names.name("app_store")
            return fact
        }
        return PurchaseTimeline(
            number: 1,
            facts: facts,
            names: names.names,
            catalogs: CatalogHistory([])
        )
    }

    /// Whether any period gives access on a day.
    func isOpen(_ day: String) -> Bool {
        let instant = AppStoreSample.instant(day)
        return timeline.periods.contains { $0.access.contains { $0.contains(instant) } }
    }
}

/// Traps that others fell into (each with its number in the research on transitions).
struct `A purchase told by the App Store` {
    /// A transaction's members: one month after another, numbered.
    private static func month(_ number: Int, _ more: String = "") -> String {
        let ms = { (date: String) in AppStoreSample.instant(date).milliseconds }
        let start = ms("2026-0\(number)-01")
        let end = ms("2026-0\(number + 1)-01")
        return #""transactionId":"t\#(number)","purchaseDate":\#(start),"expiresDate":\#(end)"#
            + (more.isEmpty ? "" : "," + more)
    }

    private typealias Message = (type: String, subtype: String?, day: String, String, String)

    /// Folds messages in their order and in others: what holds does not depend on it.
    private static func check(
        _ messages: [Message],
        _ expectations: (AppStoreHistory) -> Void
    ) async throws {
        var submissions: [Submission] = []
        for message in messages {
            submissions.append(
                try await AppStoreSample.submission(
                    message.type,
                    message.subtype,
                    signed: message.day,
                    transaction: message.3,
                    renewal: message.4
                )
            )
        }
        var generator = SystemRandomNumberGenerator()
        for round in 0..<8 {
            var history = AppStoreHistory()
            let order =
                round == 0
                ? submissions
                : round == 1 ? submissions.reversed() : submissions.shuffled(using: &generator)
            for submission in order { history.take(submission) }
            expectations(history)
        }
    }

    // Traps 1 and 21
    @Test func `is the same in whatever order it is told`() async throws {
        try await Self.check([
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            ("DID_RENEW", nil, "2026-02-01", Self.month(2), ""),
            (
                "EXPIRED", "VOLUNTARY", "2026-03-02", Self.month(2), #""autoRenewStatus":0"#
            ),
            ("SUBSCRIBED", "RESUBSCRIBE", "2026-05-01", Self.month(5), ""),
        ]) { history in
            #expect(["2026-01-15", "2026-02-15", "2026-05-15"].allSatisfy(history.isOpen))
            #expect(!["2025-12-31", "2026-03-15", "2026-06-02"].contains(where: history.isOpen))
            let timeline = history.timeline
            #expect(timeline.status(at: AppStoreSample.instant("2026-03-15")) == .expired)
            #expect(timeline.willRenew(at: AppStoreSample.instant("2026-05-15")) == true)
        }
    }

    // Trap 4: the refund of an older period leaves the running one.
    @Test func `keeps the running period when an older one is refunded`() async throws {
        let refund = #""revocationDate":\#(AppStoreSample.instant("2026-02-10").milliseconds)"#
        try await Self.check([
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            ("DID_RENEW", nil, "2026-02-01", Self.month(2), ""),
            ("CONSUMPTION_REQUEST", nil, "2026-02-09", Self.month(1), ""),
            ("REFUND", nil, "2026-02-11", Self.month(1, refund), ""),
        ]) { history in
            #expect(history.isOpen("2026-02-15"))
            #expect(
                history.timeline.status(at: AppStoreSample.instant("2026-02-15")) == .active
            )
        }
    }

    // Trap 4: a refund, then its reversal.
    @Test func `is open again when its refund is reversed`() async throws {
        let refund = #""revocationDate":\#(AppStoreSample.instant("2026-01-10").milliseconds)"#
        let messages: [Message] = [
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            ("REFUND", nil, "2026-01-11", Self.month(1, refund), ""),
            ("REFUND_REVERSED", nil, "2026-01-20", Self.month(1), ""),
        ]
        try await Self.check(messages) { history in
            #expect(history.isOpen("2026-01-05") && history.isOpen("2026-01-25"))
            #expect(!history.isOpen("2026-01-15") && !history.isOpen("2026-02-02"))
        }
        try await Self.check(messages.dropLast()) { history in
            #expect(!history.isOpen("2026-01-25"))
            #expect(
                history.timeline.status(at: AppStoreSample.instant("2026-01-25")) == .refunded
            )
        }
    }

    // Trap 7: an upgrade's period may end earlier than the one that it replaces.
    @Test func `ends where its upgrade ends`() async throws {
        let at = { (date: String) in AppStoreSample.instant(date).milliseconds }
        let upgraded =
            #""transactionId":"t9","productId":"com.example.app.pro.week","#
            + #""purchaseDate":\#(at("2026-01-10")),"expiresDate":\#(at("2026-01-17"))"#
        try await Self.check([
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            ("DID_CHANGE_RENEWAL_PREF", "UPGRADE", "2026-01-10", upgraded, ""),
        ]) { history in
            #expect(history.isOpen("2026-01-05") && history.isOpen("2026-01-16"))
            #expect(!history.isOpen("2026-01-18"))
            let period = history.timeline.period(at: AppStoreSample.instant("2026-01-16"))
            #expect(period?.productID == "com.example.app.pro.week")
        }
    }

    // Stores, rule 7: nobody tells of the new period yet.
    @Test func `ends when it is said to be upgraded`() async throws {
        let messages: [Message] = [
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            (
                "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", "2026-01-10",
                Self.month(1, #""isUpgraded":true"#), ""
            ),
        ]
        try await Self.check(messages) { history in
            #expect(history.isOpen("2026-01-09") && !history.isOpen("2026-01-11"))
        }
        // The control: what the first message says alone.
        try await Self.check(messages.dropLast()) { history in
            #expect(history.isOpen("2026-01-11"))
        }
    }

    // Stores, rule 7: the end is not before what the extension gave.
    @Test func `keeps the extension that it had`() async throws {
        let at = { (date: String) in AppStoreSample.instant(date).milliseconds }
        let extended =
            #""transactionId":"t1","purchaseDate":\#(at("2026-01-01")),"#
            + #""expiresDate":\#(at("2026-02-20"))"#
        let bought: Message = ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), "")
        // Whichever end the last message states.
        for last in [extended, Self.month(1)] {
            try await Self.check([
                bought, ("RENEWAL_EXTENDED", nil, "2026-01-25", extended, ""),
                ("EXPIRED", "VOLUNTARY", "2026-02-20", last, ""),
            ]) { history in
                #expect(history.isOpen("2026-02-15") && !history.isOpen("2026-02-21"))
            }
        }
        // Told by nobody else, it has the end that is stated.
        try await Self.check([
            ("EXPIRED", "VOLUNTARY", "2026-02-20", Self.month(1), "")
        ]) { history in
            #expect(history.isOpen("2026-01-31") && !history.isOpen("2026-02-15"))
        }
        // The control: nobody extended it.
        try await Self.check([
            bought, ("EXPIRED", "VOLUNTARY", "2026-02-20", Self.month(1), ""),
        ]) { history in
            #expect(history.isOpen("2026-01-31") && !history.isOpen("2026-02-15"))
        }
    }

    // Trap 15: grace, retry, and the end; what was given is not taken back.
    @Test func `keeps the grace that it had`() async throws {
        let grace =
            #""gracePeriodExpiresDate":\#(AppStoreSample.instant("2026-02-08").milliseconds)"#
        let failing: [Message] = [
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", "2026-02-01", Self.month(1), grace),
            ("GRACE_PERIOD_EXPIRED", nil, "2026-02-09", Self.month(1), grace),
        ]
        let lost =
            failing + [("EXPIRED", "BILLING_RETRY", "2026-04-02", Self.month(1), "")] as [Message]
        try await Self.check(lost) { history in
            #expect(history.isOpen("2026-02-05") && !history.isOpen("2026-02-10"))
            let timeline = history.timeline
            #expect(timeline.status(at: AppStoreSample.instant("2026-02-05")) == .grace)
            #expect(timeline.status(at: AppStoreSample.instant("2026-03-01")) == .billingRetry)
            #expect(timeline.status(at: AppStoreSample.instant("2026-04-03")) == .expired)
        }
        let paid =
            failing + [("DID_RENEW", "BILLING_RECOVERY", "2026-03-01", Self.month(3), "")]
            as [Message]
        try await Self.check(paid) { history in
            #expect(!history.isOpen("2026-02-20") && history.isOpen("2026-03-15"))
        }
    }

    // A renewal is signed before its period starts, as was measured.
    @Test func `may be renewed ahead of time`() async throws {
        try await Self.check([
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            ("DID_RENEW", nil, "2026-01-31", Self.month(2), ""),
        ]) { history in
            #expect(history.timeline.periods.map(\.start).count == 2)
            #expect(history.isOpen("2026-01-31") && history.isOpen("2026-02-28"))
        }
    }

    @Test func `says what it renews to, the newest word counting`() async throws {
        let next = { (id: String) in #""autoRenewProductId":"\#(id)""# }
        try await Self.check([
            ("SUBSCRIBED", "INITIAL_BUY", "2026-01-01", Self.month(1), ""),
            ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", "2026-01-05", Self.month(1), next("basic")),
            ("DID_CHANGE_RENEWAL_PREF", nil, "2026-01-10", Self.month(1), next("same")),
            (
                "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", "2026-01-20", Self.month(1),
                next("same") + #","autoRenewStatus":0"#
            ),
        ]) { history in
            let timeline = history.timeline
            #expect(timeline.nextProductID(at: AppStoreSample.instant("2026-01-06")) == "basic")
            #expect(timeline.nextProductID(at: AppStoreSample.instant("2026-01-11")) == "same")
            #expect(timeline.willRenew(at: AppStoreSample.instant("2026-01-19")) == true)
            #expect(timeline.willRenew(at: AppStoreSample.instant("2026-01-21")) == false)
        }
    }

    // Trap 3: worlds do not mix.
    @Test func `belongs to the world that it was signed for`() async throws {
        for (word, environment) in [
            ("Production", StoreEnvironment.production), ("Sandbox", .sandbox),
        ] {
            let jws = try AppStoreSample.store(word)
                .notification("DID_RENEW", start: AppStoreSample.start)
            let verified = try await AppStoreSample.verifier()
                .notification(jws, now: AppStoreSample.now).get()
            let submission = AppStoreMapping.submission(for: verified, body: jws)
            #expect(submission.environment == environment)
            #expect(submission.events.allSatisfy { $0.environment == environment })
        }
    }
}
