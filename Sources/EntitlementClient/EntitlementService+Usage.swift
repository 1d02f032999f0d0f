import Encodings
import Entitlements
import LedgerAPI

/// Limited uses (rows B2, Z16).
extension EntitlementService {
    /// Asks for one use of a feature.
    ///
    /// The server decides where it is reached. Where it is not, what is known decides: the use begins,
    /// counts on this device at once, and is told under its one key; a use whose window is over by then
    /// is told no more, so that it takes nothing of the next.
    ///
    /// `amount`: how much it takes, in the limit's unit; nil: as much as one use may. In seconds it is
    /// a lease that ends by itself.
    public func use(_ feature: String, amount: Int64? = nil) async -> UseResult {
        let before = lastUse
        // One begins behind the other: each is counted before the next looks at what is left.
        let turn = Task {
            _ = await before?.value
            return await begin(feature, amount)
        }
        lastUse = turn
        switch await turn.value {
        case .refused(let result): return result
        case .begun(let id, let use, let customer): return await end(use, id, customer)
        }
    }

    /// Begins a use by what is known: it is written, and counts from then on.
    private func begin(_ feature: String, _ amount: Int64?) async -> UseBeginning {
        let decision = gate.decision(feature)
        guard decision.isOpen, let customer = store.customer else {
            return .refused(
                .closed(
                    SubscriptionRequired(feature: feature, products: decision.requiredProducts)
                )
            )
        }
        let perUse = decision.limit?.perUse
        let taken = amount ?? perUse?.amount
        if let perUse, let taken, taken > perUse.amount {
            return .refused(.overLimit(resetsAt: nil))
        }
        guard decision.isUsable else {
            return .refused(.overLimit(resetsAt: decision.limit?.resetsAt))
        }
        let use = QueuedCall.Use(
            feature: feature,
            amount: taken,
            unit: perUse?.unit,
            until: decision.limit?.resetsAt,
            isProvisional: decision.source == .provisional
        )
        guard let id = await queue.add(.use(use), for: customer) else {
            return .refused(.closed(SubscriptionRequired(feature: feature, products: [])))
        }
        await showUses()
        return .begun(id, use, customer)
    }

    /// Tells the server of a use that has begun, and says what becomes of it.
    private func end(
        _ use: QueuedCall.Use,
        _ id: String,
        _ customer: CustomerID
    ) async -> UseResult {
        let feature = use.feature
        // The server calls closed what only the store has opened: it hears of the purchase first.
        if use.isProvisional { await queue.retry(onlyPurchases: true) }
        await queue.send()
        await showUses()
        guard store.customer == customer else {
            return .closed(SubscriptionRequired(feature: feature, products: []))
        }
        let call = await queue.calls.first { $0.id.isSame(as: id) }
        if call?.phase == .refused {
            await refreshUses()
            let now = gate.decision(feature)
            return call?.refusal?.reason == .overLimit
                ? .overLimit(resetsAt: now.limit?.resetsAt)
                : .closed(SubscriptionRequired(feature: feature, products: now.requiredProducts))
        }
        return .granted(
            UsageLease(
                id: id,
                feature: feature,
                endsAt: call?.endsAt ?? use.leaseEnd(from: configuration.time.now()),
                isRecorded: call?.phase == .recorded
            )
        )
    }

    /// Lets what is left show the uses that the server's answer has not seen.
    func showUses() async { await store.set(uses: await queue.uses) }

    /// Asks what is left, since the server counts otherwise than this device.
    private func refreshUses() async { _ = await sync() }
}

/// How a use begins, before the server is told of it.
enum UseBeginning: Sendable {
    /// It does not, and why.
    case refused(UseResult)
    /// It waits in the queue under an id, in a customer's name.
    case begun(String, QueuedCall.Use, CustomerID)
}

extension ClientResponse {
    /// The end of the lease that an answer to a use tells; nil: none.
    var leaseEnd: Instant? {
        // What cannot be read says nothing of it.
        (try? JSONValue(parsing: body))?["endsAt"]?.string.flatMap { Instant(rfc3339: $0) }
    }
}

extension QueuedCall {
    /// A use of a limited feature.
    struct Use: Sendable, Hashable {
        @Bytewise private(set) var feature: String
        let amount: Int64?
        let unit: String?
        /// The end of the window that it counts in: behind it, it is told no more.
        let until: Instant?
        /// Whether only the store had opened the feature when it began: the server may not know of the
        /// purchase yet.
        let isProvisional: Bool

        init(
            feature: String,
            amount: Int64?,
            unit: String?,
            until: Instant?,
            isProvisional: Bool = false
        ) {
            self.feature = feature
            self.amount = amount
            self.unit = unit
            self.until = until
            self.isProvisional = isProvisional
        }

        /// The unit whose uses are leases (C5).
        private static let leaseUnit = "seconds"

        /// The end of a lease that begins at an instant; nil: it is none.
        func leaseEnd(from instant: Instant) -> Instant? {
            guard unit == Self.leaseUnit, let amount else { return nil }
            let (length, isTooLong) = amount.multipliedReportingOverflow(by: 1000)
            return isTooLong ? nil : instant.advanced(byMilliseconds: length)
        }

        /// As the server takes it.
        var body: JSONValue {
            var members = [JSONMember("featureId", .string(feature))]
            if let amount { members.append(JSONMember("amount", .integer(amount))) }
            if let unit { members.append(JSONMember("unit", .string(unit))) }
            return .object(members)
        }

        /// As it stands in the queue's file.
        var json: JSONValue {
            .members([
                "feature": .string(feature), "amount": amount.map { .integer($0) } ?? .null,
                "unit": .optional(unit), "until": .instant(until),
                "provisional": .bool(isProvisional),
            ])
        }

        /// Reads what stands there; nil: it is none.
        init?(json: JSONValue) {
            guard let feature = json["feature"]?.string else { return nil }
            self.init(
                feature: feature,
                amount: json["amount"]?.integer,
                unit: json["unit"]?.string,
                until: json["until"]?.string.flatMap { Instant(rfc3339: $0) },
                isProvisional: json["provisional"]?.bool ?? false
            )
        }
    }
}
