import Entitlements
import EventLog

/// A claim or restore that was refused, as `signal.noted` tells it (Stores, rule 7).
enum RefusedClaim {
    /// The event's `name`.
    static let name = "claim_refused"
}

extension Appender {
    /// Keeps that a customer's claim was refused, under both and at most once an hour, so that
    /// explanations and support see it (Stores, rule 7).
    ///
    /// Neither event names the other's subject. The refusal itself never fails by the disk.
    ///
    /// - Throws: `LedgerFault`.
    func noteRefusedClaim(
        on purchase: PurchaseName,
        by customer: CustomerID,
        in environment: StoreEnvironment
    ) throws {
        let now = clock()
        // The owner may read the event's id: the claimant stands in it as a keyed digest.
        let digest = vault.digestSecret.signal(
            environment: environment.rawValue,
            source: RefusedClaim.name,
            id: "\(purchase)/\(customer)"
        )
        let words = [digest.high, digest.low].map { String($0, radix: 16) }
        let hour = RefusalTally.hour(of: now)
        let id = "\(RefusedClaim.name)/\(words.joined(separator: "-"))/\(hour)"
        let data = EventData(.signalNoted, [.name: .text(RefusedClaim.name)])
        let subjects = [Subject.customer(customer), .purchase(purchase)]
        do {
            _ = try record(
                Submission(
                    id: id,
                    source: Source.ledger,
                    environment: environment,
                    nature: .signal,
                    drafts: subjects.map { EventDraft(subject: $0, time: now, data: data) }
                )
            )
        } catch is LogStorageFault {
            // Whoever is refused is told so whether or not the disk has room.
        }
    }
}
