import Encodings
import Entitlements
import StoreSimulator

/// Customers who each buy a subscription: the events of many, woven into one another.
///
/// Each customer has as many events as there are steps, over two streams: the customer and the
/// purchase. With ten steps one event in five is the first of its stream.
struct BenchEvents: Sequence, IteratorProtocol {
    /// Customers who begin together.
    static let cohortSize = 100

    let steps: Int
    let cohorts: Int
    private var group = 0
    private var step = 0
    private var member = 0

    /// Events of about the number asked for, the steps of whole cohorts.
    init(about events: Int, steps: Int) {
        self.steps = steps
        cohorts = Swift.max(1, events / (steps * Self.cohortSize))
    }

    /// How many customers there are, numbered from 0.
    var customers: Int { cohorts * Self.cohortSize }

    /// How many events there are.
    var count: Int { customers * steps }

    /// The next event: in each group, every cohort under way takes one step.
    mutating func next() -> Event? {
        while group < cohorts + steps - 1 {
            let cohort = group - step
            guard step < steps, cohort >= 0 else {
                (group, step) = (group + 1, 0)
                continue
            }
            guard cohort < cohorts, member < Self.cohortSize else {
                (step, member) = (step + 1, 0)
                continue
            }
            // 37 has no factor in common with 100: every member has its turn once.
            let place = (member * 37 + group) % Self.cohortSize
            member += 1
            return BenchStory(customer: cohort * Self.cohortSize + place).event(step)
        }
        return nil
    }

    /// The next events as submissions; fewer at the end.
    mutating func submissions(_ count: Int) -> [Submission] {
        var submissions: [Submission] = []
        submissions.reserveCapacity(count)
        while submissions.count < count, let event = next() {
            submissions.append(Submission(event: event))
        }
        return submissions
    }
}

/// One customer's subscription.
struct BenchStory {
    /// From 0.
    let customer: Int

    /// When the first customers begin: 2024-01-01T00:00:00Z.
    static let start = Instant(milliseconds: 1_704_067_200_000)
    private static let month = 30 * Instant.millisecondsPerDay
    /// An instant at which every story is in its first month: the last moment of the first one.
    static let everybodySubscribes = start.advanced(byMilliseconds: month - 1)

    private var word: UInt64 { SeededWords.mix(UInt64(customer) &+ 1) }

    /// The customer's id.
    var id: CustomerID { CustomerID(stringLiteral: "user-" + String(word, radix: 16)) }

    private var purchase: PurchaseName {
        PurchaseName(store: Source.appStore, originalID: String(2_000_000_000_000 + customer))
    }

    /// The beginning of a month of the subscription.
    private func month(_ number: Int) -> Instant {
        let offset = Int64(word % UInt64(Self.month))
        return Self.start.advanced(byMilliseconds: offset + Int64(number) * Self.month)
    }

    /// Whether the purchase holds at an instant, once all of so many steps are known: it is renewed
    /// without a gap.
    func isSubscribed(at instant: Instant, steps: Int) -> Bool {
        let last = (0..<steps).compactMap(Self.renewedMonth).max() ?? 0
        return (month(0)..<month(last + 1)).contains(instant)
    }

    /// The month that a step renews the purchase for, from 1; nil for other steps.
    private static func renewedMonth(_ step: Int) -> Int? {
        // Three of five steps are renewals: those that leave 0, 1 and 3.
        guard step > 1, [0, 1, 3].contains(step % 5) else { return nil }
        return step / 5 * 3 + [-1, 0, 0, 1][step % 5]
    }

    /// The event of a step; each renewal is a month after the last.
    func event(_ step: Int) -> Event {
        let rounds = step / 5
        return switch (step, step % 5) {
        case (0, _): period(.purchaseCompleted, 0, step)
        case (1, _):
            event(
                step,
                .customer(id),
                month(0),
                EventData(.customerClaimed, [.purchase: .text(purchase.description)])
            )
        case (_, 2):
            event(
                step,
                .purchase(purchase),
                month(rounds * 3),
                // Without a transaction it holds for every period (P7).
                EventData(.verificationPassed, [.method: .text("app_store_jws")])
            )
        case (_, 4):
            event(
                step,
                .customer(id),
                month(rounds * 3).advanced(byMilliseconds: 3_600_000),
                rounds.isMultiple(of: 2) ? use(step) : attempt(step)
            )
        default: period(.purchaseRenewed, Self.renewedMonth(step) ?? 0, step)
        }
    }

    private func use(_ step: Int) -> EventData {
        EventData(
            .usageRecorded,
            [.useID: .text("use-\(customer)-\(step)"), .featureID: .text("scan")]
        )
    }

    /// A purchase flow, which fails for one customer of four; of another one a failure beside any flow.
    private func attempt(_ step: Int) -> EventData {
        guard customer % 4 != 1 else {
            return EventData(
                .failureRecorded,
                [.errorCode: .text("store_unavailable"), .retryable: .flag(true)]
            )
        }
        let isFailed = customer.isMultiple(of: 4)
        return EventData(
            isFailed ? .flowFailed : .flowSucceeded,
            [
                .productID: .text("plus_monthly"), .flowID: .text("flow-\(customer)-\(step)"),
                .errorCode: isFailed ? .text("NETWORK_ERROR") : nil,
                .stages: .durations([
                    FieldValue.Duration(name: "record", milliseconds: Int64(word % 100)),
                    FieldValue.Duration(name: "store", milliseconds: Int64(word % 1000)),
                ]),
                .platform: .text("ios"),
            ]
        )
    }

    private func transaction(_ number: Int) -> String {
        String(2_000_000_000_000_000 + customer * 1000 + number)
    }

    private func period(_ kind: EventKind, _ number: Int, _ step: Int) -> Event {
        event(
            step,
            .purchase(purchase),
            month(number),
            EventData(
                kind,
                [
                    .transactionID: .text(transaction(number)),
                    .productID: .text("premium_monthly"),
                    .productKind: .text("auto_renewable"),
                    .expiresAt: .instant(month(number + 1)), .priceMicros: .integer(4_990_000),
                    .currencyCode: .text("EUR"), .storefront: .text("DEU"),
                ]
            )
        )
    }

    private func event(
        _ step: Int,
        _ subject: Subject,
        _ time: Instant,
        _ data: EventData
    ) -> Event {
        let high = String(SeededWords.mix(word &+ UInt64(step)), radix: 16)
        return Event(
            id: high + "-\(customer)-\(step)",
            source: Source.appStore,
            subject: subject,
            time: time,
            data: data
        )
    }
}
