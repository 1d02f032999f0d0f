import EntitlementLedger
import EventLog
import LedgerAPI
import LedgerOperations
import Stores

extension Problem {
    /// Gives a fault of the layers below its problem.
    init(anyError error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let fault as LedgerFault: self.init(fault)
        case let fault as LogStorageFault: self.init(fault)
        case let fault as JournalFault: self.init(fault)
        case is CancellationError: self.init(.busy, "the server is going down", retryAfter: 1)
        // What stands in files beside the log, such as what stores last said of their products.
        default:
            let isFull = OperationFault(telling: error, ofLedgerAt: nil).code == .fullDisk
            self =
                isFull
                ? Problem(.storageFull, "the disk is full", retryAfter: 30) : Problem(.internal)
        }
    }

    /// An expected no of the ledger.
    init(_ refusal: Refusal) {
        let code: ProblemCode =
            switch refusal.code {
            case .conflict: .conflict
            case .claimedByAnother: .claimedByAnother
            case .trialUsed: .trialUsed
            case .unknownTrial: .unknownTrial
            case .unknownFeature: .unknownFeature
            case .notAllowed: .notAllowed
            case .overLimit: .overLimit
            case .invalidCatalog: .invalidCatalog
            case .notPermitted: .notPermitted
            case .tooLarge: .tooLarge
            case .recordedTime: .recordedTime
            case .unknownGrant: .unknownGrant
            case .unknownUse: .unknownUse
            case .unknownPurchase: .unknownPurchase
            case .invalidValue: .invalidValue
            case .outOfRange: .outOfRange
            }
        self.init(code, refusal.detail, path: refusal.path)
    }

    /// A store's message that is turned away.
    init(_ refusal: SignalRefusal, of store: String) {
        self.init(
            ProblemCode(rawValue: refusal.code.rawValue) ?? .invalidRequest,
            refusal.detail,
            path: refusal.path
        )
        self.store = store
    }

    private init(_ fault: LedgerFault) {
        switch fault.code {
        case .clockBehind: self.init(.clockBehind, fault.message, retryAfter: 5)
        case .clockAhead: self.init(.clockAhead, fault.message, retryAfter: 60)
        case .contended: self.init(.busy, fault.message, retryAfter: 1)
        case .readOnly: self.init(.readOnly, fault.message)
        case .unknownSequence: self.init(.unknownSequence, fault.message)
        case .shortened: self.init(.storage, fault.message)
        case .emptyRange: self.init(.emptyRange, fault.message)
        case .unknownCustomer, .otherExport:
            self.init(.unknownCustomer, fault.message)
        }
    }

    /// Its own words may name hosts.
    private init(_ fault: JournalFault) {
        self =
            fault.isLasting
            ? Problem(.storage, "the cluster's database refuses it")
            : Problem(.noLeader, "the cluster's database does not take it now", retryAfter: 1)
    }

    private init(_ fault: LogStorageFault) {
        switch fault.code {
        case .full: self.init(.storageFull, fault.message, retryAfter: 30)
        case .busy: self.init(.busy, fault.message, retryAfter: 1)
        case .noLeader: self.init(.noLeader, fault.message, retryAfter: 1)
        case .notInCluster: self.init(.readOnly, fault.message)
        case .outcomeUnknown, .damaged, .replaced, .unreadable, .newerFormat:
            self.init(.storage, fault.message)
        }
    }
}
