import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import ModelSupport
import Stores

@testable import LedgerServer

/// Purchases that were handed on, by events no two of which share a time, a sum, an id or a word.
struct VisibilityWorld {
    /// How somebody stands to the others.
    enum Relation: String, CaseIterable {
        /// Owns a purchase that nobody else ever owned.
        case own
        /// Handed purchases on.
        case former
        /// Was handed them.
        case new
        /// Has two names (C2).
        case linked
        /// Has no part in any of them.
        case stranger
        /// Owned one once, and was erased.
        case erased

        /// The id of the token.
        var id: String { customer.text }
        /// Whom it names.
        var customer: CustomerID { "\(rawValue)-customer" }
        /// Every name of theirs.
        var names: [String] { self == .linked ? [id, "alias-of-linked"] : [id] }
        /// Whether a subject is a name of theirs.
        func isNamed(_ subject: Subject) -> Bool {
            names.contains { Subject("customer/" + $0) == subject }
        }
        var subject: Subject { .customer(account) }
        /// The name under which they buy.
        var account: CustomerID { self == .linked ? "alias-of-linked" : customer }
    }

    /// An event with what tells it from all others.
    struct Entry {
        var event: Event
        /// Whose purchase it is about, by its number.
        var purchase: Int?
        /// Texts that no customer is shown.
        var words: [String] = []
        var sequence: UInt64 = 0
        var recordedAt = noon
    }

    private(set) var entries: [Entry] = []
    /// How many events are known (T4).
    private(set) var size = UInt64.max
    /// When each purchase is whose, as known, ascending.
    private(set) var owners: [[(since: Instant, owner: Relation)]] = []
    private var random: SplitMix64
    /// Who owned each purchase in turn.
    private let chains: [[Relation]]

    static let start = noon.plus(seconds: -300 * 86_400)

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        var chains: [[Relation]] = [
            [.own], [.former, .new], [.erased, .linked], [.new, .former, .new],
        ]
        let owners: [Relation] = [.former, .new, .linked]
        chains.append([random.pick(owners), random.pick(owners), random.pick(owners)])
        self.chains = chains
        for number in chains.indices { addPurchase(number) }
        for relation in Relation.allCases { addOwn(relation) }
        entries.shuffle(using: &random)
    }

    static func name(_ purchase: Int) -> PurchaseName {
        PurchaseName(store: "app_store", originalID: "30000001000000\(purchase)")
    }

    // MARK: What happened

    private mutating func instant(_ span: Range<Instant>) -> Instant {
        let range = span.lowerBound.milliseconds..<span.upperBound.milliseconds
        return Instant(milliseconds: Int64.random(in: range, using: &random))
    }

    private mutating func mark(_ kind: String) -> String {
        kind + String(UInt64.random(in: 1_000_000_000...9_999_999_999, using: &random))
    }

    private mutating func add(
        _ subject: Subject,
        _ time: Instant,
        _ data: EventData,
        purchase: Int? = nil,
        words: [String] = [],
        source: String = Source.support
    ) {
        let event = Event(
            id: mark("event-"),
            source: source,
            subject: subject,
            time: time,
            data: data
        )
        entries.append(Entry(event: event, purchase: purchase, words: words))
    }

    private mutating func addPurchase(_ number: Int) {
        let chain = chains[number]
        let bounds =
            [Self.start] + (1..<chain.count).map { _ in instant(Self.start..<noon) }.sorted()
            + [noon]
        let name = Self.name(number)
        let first = instant(bounds[0]..<bounds[1])
        add(chain[0].subject, first, claim(name), purchase: nil)
        for (place, owner) in chain.enumerated() {
            let span = bounds[place]..<bounds[place + 1]
            if place > 0, owner != chain[place - 1] {
                handOn(name, from: chain[place - 1], to: owner, at: span.lowerBound)
            }
            // A renewal may carry the token of whoever bought it (Stores, rule 7).
            let account = random.pick(Array(chain[...place])).account
            addPeriod(number, span, isFirst: place == 0, account: account)
            for _ in 0..<Int.random(in: 3...7, using: &random) { addStatement(number, span) }
        }
    }

    private func claim(_ name: PurchaseName) -> EventData {
        EventData(.customerClaimed, [.purchase: .text(name.description)])
    }

    private mutating func handOn(
        _ name: PurchaseName,
        from: Relation,
        to owner: Relation,
        at time: Instant
    ) {
        if random.chance(50) {
            let data = EventData(.customerTransferred, [.from: .texts([from.id])])
            add(owner.subject, time, data, source: Source.revenueCat)
        } else {
            add(owner.subject, time, claim(name))
        }
    }

    private mutating func addPeriod(
        _ number: Int,
        _ span: Range<Instant>,
        isFirst: Bool,
        account: CustomerID
    ) {
        let time = instant(span)
        let subject = Subject.purchase(Self.name(number))
        let transaction = mark("transaction-")
        let price = Int64.random(in: 100_000_000...999_999_999, using: &random)
        let data = EventData(
            isFirst ? .purchaseCompleted : .purchaseRenewed,
            [
                .transactionID: .text(transaction),
                .productID: .text("com.example.app.pro.month"),
                .productKind: .text("auto_renewable"),
                .expiresAt: .instant(instant(time..<time.plus(seconds: 90 * 86_400))),
                .priceMicros: .integer(price), .currencyCode: .text("EUR"),
                .account: .text(account.text),
            ]
        )
        add(subject, time, data, purchase: number, source: Source.appStore)
        let word = mark("verdict-")
        let verdict = EventData(
            .verificationPassed,
            [.transactionID: .text(transaction), .method: .text("manual"), .reason: .text(word)]
        )
        add(subject, instant(span), verdict, purchase: number, words: [word])
    }

    private mutating func addStatement(_ number: Int, _ span: Range<Instant>) {
        let word = mark("word-")
        let price = Int64.random(in: 100_000_000...999_999_999, using: &random)
        let end = instant(span.lowerBound..<noon.plus(seconds: 90 * 86_400))
        let data = random.pick([
            EventData(
                .revocationRefunded,
                [.reason: .text(word), .priceMicros: .integer(price), .currencyCode: .text("EUR")]
            ),
            EventData(.revocationReversed),
            EventData(
                .failureRecorded,
                [.errorCode: .text("e"), .retryable: .flag(true), .detail: .text(word)]
            ),
            EventData(.purchaseRenewalChanged, [.autoRenew: .flag(false), .reason: .text(word)]),
            EventData(.purchaseGraceStarted, [.graceUntil: .instant(end)]),
            EventData(.purchasePaused, [.resumesAt: .instant(end)]), EventData(.purchaseResumed),
            EventData(.purchaseExpired, [.reason: .text(word)]),
            EventData(.purchaseRetryStarted),
            EventData(.verificationFailed, [.method: .text("store_api"), .reason: .text(word)]),
            EventData(.verificationPassed, [.method: .text("store_api")]),
            EventData(.syncCompleted, [.found: .integer(1), .differences: .text(word)]),
            EventData(.signalNoted, [.name: .text("test"), .detail: .text(word)]),
        ])
        add(
            .purchase(Self.name(number)),
            instant(span),
            data,
            purchase: number,
            words: [word]
        )
    }

    /// What concerns one customer alone.
    private mutating func addOwn(_ relation: Relation) {
        let span = Self.start..<noon
        if relation == .linked {
            let link = EventData(.customerLinked, [.alias: .text("alias-of-linked")])
            add(.customer(relation.customer), instant(span), link)
        }
        let word = mark("grant-")
        let grant = EventData(
            .grantGiven,
            [
                .grantID: .text(mark("given-")), .tier: .text("pro"),
                .expiresAt: .instant(instant(span)), .reason: .text(word),
            ]
        )
        add(relation.subject, instant(span), grant, words: [word])
        add(relation.subject, instant(span), EventData(.trialStarted, [.trialID: .text("week")]))
        let use = EventData(
            .usageRecorded,
            [.useID: .text(mark("use-")), .featureID: .text("scan")]
        )
        add(relation.subject, instant(span), use)
        let looked = mark("looked-")
        let access = EventData(
            .accessLogged,
            [.actor: .text(mark("actor-")), .action: .text("showCustomer"), .reason: .text(looked)]
        )
        add(relation.subject, instant(span), access, words: [looked, access.text(.actor) ?? ""])
        let failed = EventData(
            .flowFailed,
            [.flowID: .text(mark("flow-")), .errorCode: .text("declined")]
        )
        add(relation.subject, instant(span), failed)
    }

    // MARK: Recording

    /// The world as it was when so many events were known.
    func known(_ size: UInt64) -> VisibilityWorld {
        var world = self
        world.size = size
        world.owners = chains.indices.map { world.walked($0) }
        return world
    }

    /// Records everything, then erases whom it is to erase.
    mutating func record(in server: TestServer) throws {
        try server.publishCatalog()
        for index in entries.indices {
            server.clock.now = server.clock.now.advanced(
                byMilliseconds: Int64.random(in: 2...100_000, using: &random)
            )
            let receipt = try server.ledger.appender.record(Submission(event: entries[index].event))
            guard case .appended(let first, _) = receipt else {
                preconditionFailure("\(receipt)")
            }
            entries[index].sequence = first
            entries[index].recordedAt = server.clock.now
        }
        self = known(.max)
        // Now is a time that no event has.
        server.clock.now = server.clock.now.advanced(byMilliseconds: 1)
        _ = try server.ledger.eraser.erase(
            [Relation.erased.customer],
            EntitlementLedger.Request(
                id: "erasure",
                source: Source.support,
                environment: .production
            ),
            reading: StoredEvidenceNames()
        )
    }
}
