package import Entitlements

extension TimelineChart {
    /// How a bar looks: a colour, a pattern and a letter, so that no one of them is needed.
    package enum BarKind: String, Sendable, CaseIterable {
        case tier, free, active, trial, grant, grace, retry, paused, revoked, unverified, pending

        /// Nil: it gives nothing.
        package init?(reason: AccessReason) {
            switch reason {
            case .free: self = .free
            case .purchase: self = .active
            case .trial: self = .trial
            case .grant: self = .grant
            case .none: return nil
            }
        }

        /// Nil: it gives nothing.
        package init?(status: PurchaseStatus) {
            switch status {
            case .active: self = .active
            case .grace: self = .grace
            case .billingRetry: self = .retry
            case .paused: self = .paused
            case .refunded, .revoked: self = .revoked
            case .unverified: self = .unverified
            case .pending: self = .pending
            case .expired, .none: return nil
            }
        }

        /// Of a source that is neither feature nor purchase.
        package init?(source: String) {
            if source.utf8.starts(with: "grant/".utf8) {
                self = .grant
            } else if source.utf8.starts(with: "trial/".utf8) {
                self = .trial
            } else {
                return nil
            }
        }

        /// The letter on a bar.
        package var letter: Character {
            switch self {
            case .tier: "#"
            case .free: "F"
            case .active: "A"
            case .trial: "T"
            case .grant: "★"
            case .grace: "G"
            case .retry: "R"
            case .paused: "P"
            case .revoked: "×"
            case .unverified: "?"
            case .pending: "…"
            }
        }

        /// What the legend calls it.
        package var word: String {
            switch self {
            case .tier: "tier"
            case .free: "free"
            case .active: "active or bought"
            case .trial: "trial"
            case .grant: "granted"
            case .grace: "grace"
            case .retry: "billing retry, no access"
            case .paused: "paused"
            case .revoked: "refunded or revoked"
            case .unverified: "unverified"
            case .pending: "pending"
            }
        }
    }

    /// How an event looks.
    package enum MarkKind: String, Sendable, CaseIterable {
        case begins, ends, change, taken, trouble

        /// Of an event's `type`.
        package init(type: String) {
            switch EventKind(name: type) {
            case .purchaseCompleted, .purchaseRenewed, .purchaseExtended, .purchaseResumed,
                .trialStarted, .grantGiven, .revocationReversed:
                self = .begins
            case .purchaseExpired, .purchasePaused, .purchaseAbandoned, .grantWithdrawn:
                self = .ends
            case .revocationRefunded, .revocationRevoked, .verificationFailed:
                self = .taken
            case .purchaseGraceStarted, .purchaseRetryStarted, .failureRecorded, .flowFailed:
                self = .trouble
            default: self = .change
            }
        }

        /// The mark in text.
        package var letter: Character {
            switch self {
            case .begins: "^"
            case .ends: "v"
            case .change: "o"
            case .taken: "x"
            case .trouble: "!"
            }
        }

        /// What the legend calls it.
        package var word: String {
            switch self {
            case .begins: "begins"
            case .ends: "ends"
            case .change: "changes"
            case .taken: "taken back"
            case .trouble: "trouble"
            }
        }
    }
}
