import Entitlements

extension RandomEvents {
    /// Any event but a catalog, those that decide much more often.
    mutating func event(id: String) -> Event {
        now = instant()
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<62:
            let name = PurchaseName(random.pick(purchases, skewed: true))
            guard let name else { return made(id, .catalog, EventData(.catalogPublished)) }
            return made(id, .purchase(name), purchaseData())
        case 62..<98:
            return made(id, .customer(random.pick(customers, skewed: true)), customerData())
        default:
            let data = EventData(random.pick([.syncCompleted, .syncReconciled]))
            return made(id, .store("app_store"), data)
        }
    }

    /// In how many of a hundred cases a kind has a stated end.
    private static let chanceOfEnd = ["non_consumable": 15, "non_renewing": 45]

    /// What one transaction gives.
    mutating func period(_ kind: EventKind) -> EventData {
        let product = random.pick(Self.products, skewed: true)
        let usual = Self.usualKinds[product] ?? "auto_renewable"
        return EventData(
            kind,
            [
                .transactionID: .text(random.pick(transactions, skewed: true)),
                .productID: .text(product),
                .productKind: .text(random.chance(85) ? usual : random.pick(Self.kinds)),
                .expiresAt: random.chance(Self.chanceOfEnd[usual] ?? 85)
                    ? .instant(later()) : nil,
                .priceMicros: .integer(990_000), .currencyCode: .text("EUR"),
                .account: random.chance(35)
                    ? .text(random.pick(customers, skewed: true).text) : nil,
            ]
        )
    }

    private mutating func transaction(_ percent: Int = 60) -> FieldValue? {
        random.chance(percent) ? .text(random.pick(transactions, skewed: true)) : nil
    }

    private mutating func purchaseData() -> EventData {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<26:
            return period(random.pick([.purchaseCompleted, .purchaseRenewed]))
        case 26..<31:
            return EventData(
                .purchaseExtended,
                [.transactionID: transaction(100), .expiresAt: .instant(later())]
            )
        case 31..<38:
            return EventData(
                .purchaseGraceStarted,
                [.transactionID: transaction(), .graceUntil: .instant(later())]
            )
        case 38..<42: return EventData(.purchaseRetryStarted, [.transactionID: transaction()])
        case 42..<48: return EventData(.purchaseExpired, [.transactionID: transaction()])
        case 48..<52:
            return EventData(.purchasePaused, [.resumesAt: .instant(later())])
        case 52..<56: return EventData(.purchaseResumed)
        case 56..<61:
            return EventData(
                .purchaseRenewalChanged,
                [
                    .autoRenew: random.chance(70) ? .flag(random.chance(50)) : nil,
                    .nextProductID: random.chance(50) ? .text(random.pick(Self.products)) : nil,
                ]
            )
        case 61..<64:
            return EventData(
                random.pick([.purchasePending, .purchaseAbandoned]),
                [.transactionID: transaction(), .productID: .text("m")]
            )
        case 64..<68: return EventData(.purchaseLinked, [.alias: .text(random.pick(purchases))])
        case 68..<80: return verdict(.verificationPassed)
        case 80..<83: return verdict(.verificationFailed)
        case 83..<89:
            return EventData(
                random.pick([.revocationRefunded, .revocationRevoked]),
                [.transactionID: transaction(), .priceMicros: .integer(1)]
            )
        case 89..<94: return EventData(.revocationReversed, [.transactionID: transaction()])
        case 94..<97:
            return EventData(
                random.pick([.syncCompleted, .syncReconciled]),
                [.found: .integer(1), .through: .instant(instant())]
            )
        default: return passedOverPurchaseData()
        }
    }

    private mutating func verdict(_ kind: EventKind) -> EventData {
        EventData(
            kind,
            [.transactionID: transaction(45), .method: .text("manual")]
        )
    }

    private mutating func passedOverPurchaseData() -> EventData {
        random.pick([
            EventData(.purchaseAcknowledged, [.transactionID: transaction()]),
            EventData(.signalNoted, [.name: .text("price_consent")]),
            EventData(
                .failureRecorded,
                [.errorCode: .text("timeout"), .retryable: .flag(true)]
            ),
        ])
    }

    private mutating func customerData() -> EventData {
        let purchase = FieldValue.text(random.pick(purchases, skewed: true))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<24: return EventData(.customerClaimed, [.purchase: purchase])
        case 24..<31: return EventData(.customerReleased, [.purchase: purchase])
        case 31..<41:
            return EventData(.customerLinked, [.alias: .text(random.pick(customers).text)])
        case 41..<46:
            let from = random.some(of: customers, 40)
            return EventData(
                .customerTransferred,
                [.from: .texts((from.isEmpty ? [customers[0]] : from).map(\.text))]
            )
        case 46..<56: return grant()
        case 56..<61:
            return EventData(.grantWithdrawn, [.grantID: .text(random.pick(["g1", "g2", "g3"]))])
        case 61..<70:
            return EventData(.trialStarted, [.trialID: .text(random.pick(Self.trials))])
        case 70..<86:
            return EventData(
                .usageRecorded,
                [
                    .useID: .text(random.pick(["u1", "u2", "u3", "u4"])),
                    .featureID: .text(random.pick(Self.features, skewed: true)),
                    .amount: random.chance(50) ? .integer(3) : nil,
                ]
            )
        case 86..<90:
            return EventData(
                .usageReversed,
                [.useID: .text(random.pick(["u1", "u2", "u3", "u4"]))]
            )
        case 90..<92: return EventData(.customerErased)
        default: return passedOverCustomerData()
        }
    }

    private mutating func grant() -> EventData {
        EventData(
            .grantGiven,
            [
                .grantID: .text(random.pick(["g1", "g2", "g3"], skewed: true)),
                .features: random.chance(60)
                    ? .texts(random.some(of: Self.features, 35).reversed()) : nil,
                .tier: random.chance(60) ? .text(random.pick(Self.tiers + ["lost"])) : nil,
                .expiresAt: random.chance(60) ? .instant(later()) : nil,
            ]
        )
    }

    private mutating func passedOverCustomerData() -> EventData {
        let flow = random.pick([
            EventKind.flowStarted, .flowSucceeded, .flowFailed, .flowCancelled, .flowPending,
            .flowRestored,
        ])
        return random.pick([
            EventData(flow, [.flowID: .text("w1")]),
            EventData(.signalNoted, [.name: .text("claim_refused")]),
            EventData(.accessLogged, [.actor: .text("k1"), .action: .text("show")]),
            EventData(.syncCompleted),
            EventData(
                .failureRecorded,
                [.errorCode: .text("offline"), .retryable: .flag(false)]
            ),
        ])
    }
}
