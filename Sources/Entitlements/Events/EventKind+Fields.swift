/// Which fields a kind of event has and whom it may speak about: the table of Model, "Events".
package struct EventShape: Sendable {
    /// The kinds of subject that it may have.
    package var subjects: [Subject.Kind]
    /// Fields that must be there.
    package var required: [Field]
    /// Fields that may be there.
    package var optional: [Field]

    init(_ subjects: [Subject.Kind], _ required: [Field] = [], optional: [Field] = []) {
        self.subjects = subjects
        self.required = required
        self.optional = optional
    }
}

extension EventKind {
    /// The row of the table for this kind.
    package var shape: EventShape { Self.shapes[Int(rawValue) - 1] }

    /// Built once: the table is asked for each event.
    private static let shapes = allCases.map(\.row)

    private var row: EventShape {
        switch self {
        case .purchaseCompleted, .purchaseRenewed, .purchaseExtended, .purchaseGraceStarted,
            .purchaseRetryStarted, .purchaseExpired, .purchasePaused, .purchaseResumed,
            .purchaseRenewalChanged, .purchasePending, .purchaseAbandoned, .purchaseLinked,
            .purchaseAcknowledged, .verificationPassed, .verificationFailed,
            .revocationRefunded, .revocationRevoked, .revocationReversed:
            purchaseRow
        case .customerClaimed, .customerReleased, .customerLinked, .customerTransferred,
            .customerErased, .grantGiven, .grantWithdrawn, .trialStarted, .usageRecorded,
            .usageReversed, .flowStarted, .flowSucceeded, .flowFailed, .flowCancelled,
            .flowPending, .flowRestored, .accessLogged:
            customerRow
        case .syncCompleted, .syncReconciled, .signalNoted, .failureRecorded, .catalogPublished:
            sharedRow
        }
    }

    private var purchaseRow: EventShape {
        let subject: [Subject.Kind] = [.purchase]
        return switch self {
        case .purchaseCompleted, .purchaseRenewed:
            EventShape(
                subject,
                [.transactionID, .productID, .productKind],
                optional: [
                    .expiresAt, .priceMicros, .currencyCode, .quantity, .ownership, .offer,
                    .storefront, .account,
                ]
            )
        case .purchaseExtended: EventShape(subject, [.transactionID, .expiresAt])
        case .purchaseGraceStarted:
            EventShape(subject, [.graceUntil], optional: [.transactionID])
        case .purchaseExpired: EventShape(subject, optional: [.transactionID, .reason])
        case .purchasePaused: EventShape(subject, optional: [.resumesAt])
        case .purchaseResumed: EventShape(subject)
        case .purchaseRenewalChanged:
            EventShape(subject, optional: [.autoRenew, .nextProductID, .reason])
        case .purchasePending, .purchaseAbandoned:
            EventShape(subject, optional: [.productID, .transactionID])
        case .purchaseLinked: EventShape(subject, [.alias])
        case .verificationPassed, .verificationFailed:
            EventShape(subject, [.method], optional: [.transactionID, .reason])
        case .revocationRefunded, .revocationRevoked:
            EventShape(
                subject,
                optional: [.transactionID, .reason, .priceMicros, .currencyCode]
            )
        default: EventShape(subject, optional: [.transactionID])
        }
    }

    private var customerRow: EventShape {
        let subject: [Subject.Kind] = [.customer]
        return switch self {
        case .customerClaimed, .customerReleased: EventShape(subject, [.purchase])
        case .customerLinked: EventShape(subject, [.alias])
        case .customerTransferred: EventShape(subject, [.from])
        case .grantGiven:
            EventShape(subject, [.grantID], optional: [.features, .tier, .expiresAt, .reason])
        case .grantWithdrawn: EventShape(subject, [.grantID])
        case .trialStarted: EventShape(subject, [.trialID])
        case .usageRecorded:
            EventShape(subject, [.useID, .featureID], optional: [.amount, .unit])
        case .usageReversed: EventShape(subject, [.useID])
        case .flowStarted, .flowSucceeded, .flowFailed, .flowCancelled, .flowPending,
            .flowRestored:
            EventShape(
                subject,
                [.flowID],
                optional: [.productID, .errorCode, .stages, .platform, .experiment]
            )
        case .accessLogged: EventShape(subject, [.actor, .action], optional: [.reason])
        case .customerErased: EventShape(subject, optional: [.found, .erased, .evidence])
        default: EventShape(subject)
        }
    }

    private var sharedRow: EventShape {
        let subjects: [Subject.Kind] = [.purchase, .customer, .store]
        return switch self {
        case .syncCompleted, .syncReconciled:
            EventShape(
                subjects,
                optional: [.transactionID, .found, .appended, .differences, .through]
            )
        case .signalNoted: EventShape(subjects, [.name], optional: [.detail])
        case .failureRecorded:
            EventShape(subjects, [.errorCode, .retryable], optional: [.stage, .detail])
        default: EventShape([.catalog])
        }
    }
}
