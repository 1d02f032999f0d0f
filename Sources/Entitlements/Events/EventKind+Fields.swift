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

    /// The table as bits: who takes a list out of it is counted as its holder meanwhile, and threads
    /// that read events would wait for one another's counting.
    private static let bits = shapes.map(Bits.init)

    private struct Bits {
        var subjects: UInt64 = 0
        var required: UInt64 = 0
        var fields: UInt64 = 0

        init(_ shape: EventShape) {
            for subject in shape.subjects { subjects |= subject.bit }
            for field in shape.required { required |= field.bit }
            fields = required
            for field in shape.optional { fields |= field.bit }
        }
    }

    private var bits: Bits { Self.bits[Int(rawValue) - 1] }

    /// Whether events of this kind may speak about a kind of subject.
    func maySpeak(about subject: Subject.Kind) -> Bool { bits.subjects & subject.bit != 0 }

    /// Whether a field must or may be there.
    func mayHave(_ field: Field) -> Bool { bits.fields & field.bit != 0 }

    /// The first field that must be there and is not; nil: none is missing.
    func missing(in data: EventData) -> Field? {
        let found = data.entries.reduce(UInt64(0)) { $0 | $1.field.bit }
        guard bits.required & ~found != 0 else { return nil }
        return shape.required.first { data[$0] == nil }
    }

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

extension Field {
    /// One bit of 64; there are fewer fields.
    fileprivate var bit: UInt64 { 1 << UInt64(rawValue) }
}

extension Subject.Kind {
    fileprivate var bit: UInt64 {
        switch self {
        case .purchase: 1
        case .customer: 2
        case .store: 4
        case .catalog: 8
        }
    }
}
