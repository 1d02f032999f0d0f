import Entitlements
import Stores

/// A slow, obvious reading of the model's rules for purchases and owners.
///
/// Of model.md: P1 to P3, P6 to P8, P10 and C1, enough to see what a sequence of signals comes
/// to. Grace, pauses and leeway are left out.
struct SmallFold {
    private(set) var log: [Event] = []
    private(set) var aliases: [String: Set<String>] = [:]
    private var claimed = Set<String>()

    /// Appends a submission as the ledger would: facts, then claims and links that are news.
    mutating func append(_ submission: Submission) {
        log += submission.events
        for claim in submission.claims {
            let key = "\(claim.purchase) \(claim.customer)"
            guard owner(of: claim.purchase) != claim.customer, claimed.insert(key).inserted else {
                continue
            }
            log.append(
                Event(
                    id: submission.id,
                    source: submission.source,
                    subject: .customer(claim.customer),
                    time: claim.transactionStart,
                    observedAt: claim.observedAt,
                    environment: submission.environment,
                    data: EventData(
                        .customerClaimed,
                        [.purchase: .text(claim.purchase.description)]
                    )
                )
            )
        }
        for link in submission.links { aliases[link.customer, default: []].insert(link.alias) }
    }

    /// The owner at the walk's end (C1).
    func owner(of purchase: PurchaseName) -> String? { owner(of: purchase, at: nil) }

    private func owner(of purchase: PurchaseName, at time: Instant?) -> String? {
        let walk = ordered(log.filter { time == nil || $0.time <= time ?? $0.time }, by: \.time)
        var owner: String?
        for event in walk {
            guard case .customer(let customer) = event.subject else { continue }
            switch event.kind {
            case .customerClaimed where event.data.text(.purchase) == purchase.description:
                owner = customer
            case .customerTransferred:
                if let old = owner, event.data.texts(.from)?.contains(old) == true {
                    owner = customer
                }
            default: break
            }
        }
        return owner
    }

    /// Products to which the customer has access at T.
    func products(of customer: String, at time: Instant) -> Set<String> {
        Set(
            periods().filter { owner(of: $0.purchase, at: time) == customer && gives($0, at: time) }
                .map(\.productID)
        )
    }

    /// The ends by P2 and P3 of the customer's periods of a product that give access at T.
    func ends(of customer: String, at time: Instant) -> [Instant?] {
        periods().filter { owner(of: $0.purchase, at: time) == customer && gives($0, at: time) }
            .map(\.end)
    }

    /// The newest value of a renewal field (P10).
    func renewal(_ field: Field, of purchase: PurchaseName, at time: Instant) -> FieldValue? {
        let changes = log.filter {
            $0.subject == .purchase(purchase) && $0.kind == .purchaseRenewalChanged
                && $0.time <= time && $0.data[field] != nil
        }
        return ordered(changes, by: \.observedAt).last?.data[field]
    }

    private struct Period {
        var purchase: PurchaseName
        var transactionID: String
        var productID: String
        var kind: String
        var start: Instant
        var end: Instant?
    }

    private func periods() -> [Period] {
        var periods: [Period] = []
        for event in log {
            guard event.kind == .purchaseCompleted || event.kind == .purchaseRenewed,
                case .purchase(let name) = event.subject,
                let id = event.data.text(.transactionID),
                !periods.contains(where: { $0.purchase == name && $0.transactionID == id })
            else { continue }
            if let period = period(name, id) { periods.append(period) }
        }
        return periods.enumerated().map { index, period in
            var cut = period
            guard period.kind == "auto_renewable" else { return cut }
            let later = periods.enumerated().filter {
                $1.purchase == period.purchase && $1.kind == period.kind
                    && ($1.start, $0) > (period.start, index)
            }
            if let next = later.map(\.element.start).min() { cut.end = min(cut.end ?? next, next) }
            return cut
        }
    }

    private func period(_ name: PurchaseName, _ id: String) -> Period? {
        let about = log.filter {
            $0.subject == .purchase(name) && $0.data.text(.transactionID) == id
        }
        let statements = ordered(
            about.filter { $0.kind == .purchaseCompleted || $0.kind == .purchaseRenewed },
            by: \.observedAt
        )
        let bases = ordered(
            about.filter {
                [.purchaseCompleted, .purchaseRenewed, .purchaseExtended].contains($0.kind)
            },
            by: \.observedAt
        )
        guard let statement = statements.last, let base = bases.last,
            let place = about.firstIndex(of: base)
        else { return nil }
        var end = base.data.instant(.expiresAt)
        for (index, event) in about.enumerated() where event.kind == .purchaseExpired {
            if (event.observedAt, index) > (base.observedAt, place) {
                end = min(end ?? event.time, event.time)
            }
        }
        return Period(
            purchase: name,
            transactionID: id,
            productID: statement.data.text(.productID) ?? "",
            kind: statement.data.text(.productKind) ?? "",
            start: statement.time,
            end: end.map { max($0, statement.time) }
        )
    }

    private func gives(_ period: Period, at time: Instant) -> Bool {
        let about = log.filter {
            $0.subject == .purchase(period.purchase)
                && [nil, period.transactionID].contains($0.data.text(.transactionID))
        }
        let isRunning = period.start <= time && (period.end.map { time < $0 } ?? true)
        let isVerified = about.contains { $0.kind == .verificationPassed && $0.time <= time }
        let isRefunded = about.contains { refund in
            refund.kind == .revocationRefunded && refund.time <= time
                && !about.contains {
                    $0.kind == .revocationReversed && $0.time >= refund.time && $0.time <= time
                }
        }
        return isRunning && isVerified && !isRefunded
    }

    /// A stable sort: the log's order breaks ties.
    private func ordered(_ events: [Event], by time: (Event) -> Instant) -> [Event] {
        events.enumerated().sorted { (time($0.element), $0.offset) < (time($1.element), $1.offset) }
            .map(\.element)
    }
}
