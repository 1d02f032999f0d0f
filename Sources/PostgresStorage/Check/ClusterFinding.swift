/// Why a database is not to hold a cluster's journals, with what to do.
package struct ClusterFinding: Sendable, Equatable {
    /// Which.
    package var code: Code
    /// A sentence; of what cannot be reached, libpq's own, with the operator's names of host and role.
    package var what: String
    /// What to do.
    package var remedy: String

    /// What can be found; a closed set, whose words stay.
    package enum Code: String, Sendable, CaseIterable {
        /// It cannot be reached.
        case unreachable
        /// It is older than PostgreSQL 15.
        case tooOld = "too_old"
        /// It only reads.
        case readOnly = "read_only"
        /// A pooler stands before it.
        case pooler
        /// It names no synchronous standby.
        case noStandby = "no_standby"
        /// It is content with any machine that connects.
        case anyStandby = "any_standby"
        /// None of those that it names is there.
        case standbyAway = "standby_away"
        /// Our role may not see who is there.
        case standbyHidden = "standby_hidden"
        /// The connection string does not lead to the standby.
        case standbyUnseen = "standby_unseen"
        /// Commits are durable nowhere, or on one machine.
        case commitWeak = "commit_weak"
        /// A disk is not waited for.
        case fsyncOff = "fsync_off"
        /// A page that is written half is not mended.
        case pagesTorn = "pages_torn"
        /// A wait for the standby would be cancelled, which looks like a success.
        case statementTimeout = "statement_timeout"
        /// Its clock differs from this machine's.
        case clockDiffers = "clock_differs"
        /// Our role may not make the schema, or not write to it.
        case notPermitted = "not_permitted"
        /// The schema is of a newer program.
        case newerFormat = "newer_format"
        /// A machine of the cluster has what it lacks.
        case restored
        /// A replication slot that nobody reads from keeps what an erasure replaced.
        case slotIdle = "slot_idle"
        /// A transaction keeps it.
        case transactionOld = "transaction_old"
        /// A standby that is far behind keeps it.
        case standbyBehind = "standby_behind"
    }

    /// Whether it keeps what an erasure replaced, and nothing is lost by it.
    package var isOfErasure: Bool {
        switch code {
        case .slotIdle, .transactionOld, .standbyBehind: true
        default: false
        }
    }

    /// Whether machines of a cluster that stands read on all the same.
    package var letsRead: Bool {
        switch code {
        case .standbyAway, .restored, .clockDiffers: true
        default: isOfStandby || isOfErasure
        }
    }

    /// Whether the database is away, or no primary yet: it may be there in a moment, with nothing changed.
    package var isAway: Bool {
        switch code {
        case .unreachable, .readOnly: true
        default: false
        }
    }

    /// Whether somebody who is content with one machine may pass over it.
    package var isOfStandby: Bool {
        switch code {
        case .noStandby, .anyStandby, .standbyHidden, .standbyUnseen: true
        default: false
        }
    }
}
