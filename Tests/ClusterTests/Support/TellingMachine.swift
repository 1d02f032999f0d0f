import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import PostgresStorage
import Synchronization
import Testing

@testable import LedgerOperations

/// One machine that tells, as its server does, to whoever answers as they are told to.
final class TellingMachine {
    let machine: Machine
    /// The directory.
    let path: String
    let webhooks: Webhooks
    /// The messages that were sent from here, in the order in which they were.
    private(set) var sent: [Sent] = []

    /// A message as somebody received it.
    struct Sent: Hashable {
        var webhook: String
        var id: String
        var body: [UInt8]
        /// The order's stream.
        var stream: UInt64
        var isTaken: Bool
        var isResent: Bool
    }

    /// `journal`: where the machines hold it in common; nil: nowhere.
    init(
        _ machine: Machine,
        at path: String,
        in journal: (any ClusterDeliveries)?
    ) throws {
        (self.machine, self.path) = (machine, path)
        webhooks = try Webhooks(
            ofLedgerAt: path,
            machine.node.open.ledger,
            sharedIn: journal
        )
    }

    var share: DeliveryShare {
        get throws { try #require(webhooks.share) }
    }

    /// The term in which the machine leads.
    var term: UInt64 {
        get throws { try #require(machine.node.leadingTerm) }
    }

    /// Adds somebody who is told of everything, as a call does.
    func add(_ name: String) throws -> Webhook {
        try webhooks.changing {
            var wish = Webhooks.Wish(url: "https://\(name).example/hooks")
            wish.types = ["*"]
            var randomness = RandomSource.system
            return try #require(
                try webhooks.add(wish, at: SystemClock.now(), using: &randomness)
            )
        }
    }

    /// Looks at all that is new.
    func look(at now: Instant = SystemClock.now()) throws {
        while try NoticeMaker(webhooks).step(at: now) == .goesOn {}
    }

    /// Looks at what is new and sends what is due at an instant.
    ///
    /// `answer`: the status of what somebody is sent.
    func tell(
        at now: Instant = SystemClock.now(),
        _ answer: (DeliveryPlan.Delivery, String) -> Int = { _, _ in 200 }
    ) throws {
        try look()
        for id in try webhooks.enabledIDs() {
            while let plan = try DeliveryPlan(of: id, webhooks, from: nil, at: now), !plan.isEmpty {
                var results = DeliveryResults()
                for lane in plan.lanes {
                    results.add(try send(lane, to: id, at: now, answer))
                }
                try webhooks.keep(results, of: plan)
            }
        }
    }

    private func send(
        _ lane: [DeliveryPlan.Delivery],
        to id: String,
        at now: Instant,
        _ answer: (DeliveryPlan.Delivery, String) -> Int
    ) throws -> DeliveryResults {
        var results = DeliveryResults()
        for (place, delivery) in lane.enumerated() {
            let attempt = DeliveryAttempt(status: answer(delivery, id))
            sent.append(
                Sent(
                    webhook: id,
                    id: delivery.message.id,
                    body: delivery.message.body,
                    stream: delivery.state.stream,
                    isTaken: attempt.isTaken,
                    isResent: delivery.state.isResent
                )
            )
            if attempt.isTaken {
                results.take(delivery)
            } else if !results.fail(delivery, attempt, at: now, random: 0.5) {
                results.postpone(lane[(place + 1)...])
                break
            }
        }
        return results
    }

    /// The notices that are kept here.
    func notices() throws -> [StoredNotice] { try webhooks.store.notices(from: 0, limit: .max) }

    /// The ids of messages.
    func ids(of notices: [StoredNotice]) throws -> [String] {
        try notices.map { try #require(Notice($0.bytes)).id(of: webhooks.ledger.identity) }
    }
}

/// What machines hold in common, over a database whose answer to a write may get lost, or that is away.
final class LossyDeliveries: ClusterDeliveries {
    private let journal: PostgresDeliveries
    private let isLosing = Atomic(false)
    /// Writes that it takes yet.
    private let room = Atomic(Int.max)

    init(_ journal: PostgresDeliveries) { self.journal = journal }

    /// Loses the answer to the next write.
    func loseOne() { isLosing.store(true, ordering: .relaxed) }

    /// Takes so many writes yet, and nothing behind them.
    func take(only count: Int) { room.store(count, ordering: .relaxed) }

    func deliveryStamp() throws -> [UInt8]? { try journal.deliveryStamp() }

    func deliveryState() throws -> [UInt8]? { try journal.deliveryState() }

    func noticePages(from number: UInt64, limit: Int) throws -> [NoticePage] {
        try journal.noticePages(from: number, limit: limit)
    }

    func write(_ change: DeliveriesChange, insteadOf stamp: [UInt8]?) throws -> Bool {
        guard room.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 else {
            throw JournalFault(.unavailable, "a test")
        }
        let isWritten = try journal.write(change, insteadOf: stamp)
        guard !isLosing.exchange(false, ordering: .relaxed) else {
            throw JournalFault(.unavailable, "the answer is lost")
        }
        return isWritten
    }
}
