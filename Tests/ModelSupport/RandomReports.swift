package import Entitlements

extension RandomHistory {
    /// The history with money, flows and errors that differ, so that reports have something to say.
    ///
    /// Without `customer.erased`, which an import refuses (C6).
    package var reportable: [RecordedEvent] {
        var random = SplitMix64(seed: seed ^ 0x0E90)
        return log.filter { $0.kind != .customerErased }.enumerated().map { index, recorded in
            var recorded = recorded
            recorded.sequence = UInt64(index)
            recorded.event.data = random.reportable(recorded.event)
            return recorded
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func reportable(_ event: Event) -> EventData {
        switch event.kind {
        case .purchaseCompleted, .purchaseRenewed: priced(event.data)
        case .revocationRefunded, .revocationRevoked: givenBack(event.data)
        case .purchaseGraceStarted, .purchaseRetryStarted, .purchasePaused, .purchaseExpired:
            givenBack(
                EventData(
                    pick([.revocationRefunded, .revocationRefunded, .revocationRevoked]),
                    [.transactionID: chance(60) ? .text(pick(["t1", "t2", "t3"])) : nil]
                )
            )
        case .purchaseResumed, .purchaseRenewalChanged:
            EventData(.verificationPassed, [.method: .text("manual")])
        case .failureRecorded:
            replacing(event.data, [.errorCode: .text(pick(["timeout", "offline", "bug"]))])
        case .usageRecorded, .usageReversed, .accessLogged, .flowStarted, .flowSucceeded,
            .flowFailed, .flowCancelled, .flowPending, .flowRestored:
            flow()
        default: event.data
        }
    }

    private mutating func priced(_ data: EventData) -> EventData {
        replacing(
            data,
            [
                .priceMicros: chance(85)
                    ? .integer(pick([990_000, 4_990_000, 0, 100_000_000_000_000_000])) : nil,
                .currencyCode: chance(90) ? .text(pick(["EUR", "JPY"])) : nil,
                .quantity: chance(30) ? .integer(3) : nil,
                .ownership: chance(10) ? .text("family_shared") : nil,
            ]
        )
    }

    private mutating func givenBack(_ data: EventData) -> EventData {
        let isStated = chance(50)
        return replacing(
            data,
            [
                .priceMicros: isStated ? .integer(pick([1, 500_000])) : nil,
                .currencyCode: isStated && chance(60) ? .text(pick(["EUR", "USD"])) : nil,
            ]
        )
    }

    private mutating func flow() -> EventData {
        let kind = pick([
            EventKind.flowStarted, .flowStarted, .flowSucceeded, .flowFailed, .flowCancelled,
            .flowPending, .flowRestored,
        ])
        let stage = FieldValue.Duration(
            name: pick(["store", "record"]),
            milliseconds: pick([0, 7, 12, 900])
        )
        return EventData(
            kind,
            [
                .flowID: .text(pick(["w1", "w2", "w3"])),
                .productID: chance(50) ? .text(pick(["m", "y"])) : nil,
                .platform: chance(50) ? .text(pick(["ios", "android"])) : nil,
                .errorCode: kind == .flowFailed && chance(80)
                    ? .text(pick(["NETWORK_ERROR", "CANCELLED"])) : nil,
                .stages: chance(60) ? .durations([stage]) : nil,
                .experiment: chance(60)
                    ? .text(pick(["x1/v0", "x1/v1", "x2/v0", "x1", "gone/a", "gone"])) : nil,
            ]
        )
    }

    /// Data whose fields of some names are these, or absent.
    private func replacing(
        _ data: EventData,
        _ values: KeyValuePairs<Field, FieldValue?>
    ) -> EventData {
        let fields = values.map(\.key)
        return EventData(
            recorded: data.kind,
            entries: data.entries.filter { !fields.contains($0.field) }
                + EventData(data.kind, values).entries,
            document: data.document
        )
    }
}
