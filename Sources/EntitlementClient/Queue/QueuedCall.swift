import Encodings
import Entitlements
import LedgerAPI

/// What must reach the server, with how far it is.
struct QueuedCall: Sendable, Hashable {
    /// Its `Idempotency-Key`, made once: however often it is sent, it counts once.
    let id: String
    let task: Task
    /// In whose name it is sent; nil: nobody was signed in.
    let customer: CustomerID?
    var phase = Phase.waiting
    /// How often it was tried since somebody last said so.
    var attempts: Int64 = 0
    /// The instant before which it is not tried; nil: at once.
    var notBefore: Instant?
    /// When the store last verified its transactions.
    var verifiedAt: Instant
    /// The log's size behind it; nil: it is not recorded.
    var size: UInt64?
    /// When the server said that it is recorded, in this run of the program; nil: it has not.
    var recordedAt: Instant?
    /// Whether each transaction was finished (row ES5).
    var isFinished = false
    /// Why it can never succeed; nil: it may.
    var refusal: ServiceError?
    /// Ids of transactions of a restore that the server refused beside others.
    var refusedItems = Set<Name>()
    /// The end of a lease, as the server computed it; nil: it is none, or not recorded.
    var endsAt: Instant?

    /// What it asks for.
    enum Task: Sendable, Hashable {
        /// To record one transaction.
        case claim(StoreTransaction)
        /// To record everything that the store's account holds.
        case restore([StoreTransaction])
        /// To note what happened in a purchase flow: a body, and the flow's id.
        case flow(JSONValue, id: String)
        /// To count one use of a limited feature.
        case use(Use)
    }

    /// How far it is.
    enum Phase: String, Sendable, CaseIterable {
        /// It is to be tried.
        case waiting
        /// The server recorded it; it goes once an answer of the server has seen it.
        case recorded
        /// It was tried often, and waits for somebody to try it again (row 8.1).
        case attention
        /// It can never succeed.
        case refused
        /// How a flow ended that the program's end cut short: another end takes its place, or it is
        /// told when the next flow begins.
        case prepared
    }

    /// Makes a call that waits.
    init(id: String, _ task: Task, of customer: CustomerID?, verifiedAt: Instant) {
        self.id = id
        self.task = task
        self.customer = customer
        self.verifiedAt = verifiedAt
    }

    /// Whether it hands a transaction in: as often as a store signs one anew, it is the same.
    func holds(_ transaction: StoreTransaction) -> Bool {
        transactions.contains {
            $0.id.isSame(as: transaction.id) && $0.expiresAt == transaction.expiresAt
        }
    }

    /// Whether it hands in a transaction that an earlier call hands in with another end: the store has told
    /// otherwise since.
    func replaces(_ earlier: QueuedCall) -> Bool {
        guard phase != .refused else { return false }
        let told = earlier.transactions
        return transactions.contains { transaction in
            told.contains {
                $0.id.isSame(as: transaction.id) && $0.expiresAt != transaction.expiresAt
            }
        }
    }

    /// Whether it does what a task asks for: hands in its transaction, or restores all that it does.
    func does(_ task: Task) -> Bool {
        switch task {
        // A restore may yet be refused as a whole, or for some of what it hands in: it says nothing of each before
        // the server has recorded it.
        case .claim(let transaction): holds(transaction) && (!isRestore || phase == .recorded)
        case .restore(let all):
            (phase == .waiting || phase == .attention) && isRestore
                && transactions.count == all.count && all.allSatisfy(holds)
        case .flow, .use: false
        }
    }

    /// Whether it hands in everything that the store's account holds.
    var isRestore: Bool {
        if case .restore = task { true } else { false }
    }

    /// Whether it is a restore that was refused as a whole, which says nothing of what it hands in.
    var isRefusedRestore: Bool { isRestore && phase == .refused }

    /// The purchase flow of which it tells what happened; nil: another call.
    var flowID: String? {
        if case .flow(_, let id) = task { id } else { nil }
    }

    /// Whether it tells what happened in a purchase flow.
    var isFlow: Bool { flowID != nil }

    /// What it hands in, but for what was refused of a restore.
    var transactions: [StoreTransaction] {
        switch task {
        case .claim(let transaction): [transaction]
        case .restore(let transactions): transactions.filter { !refusedItems.contains($0.id) }
        case .flow, .use: []
        }
    }

    /// The use that it tells; nil: another call.
    var use: Use? {
        if case .use(let use) = task { use } else { nil }
    }

    /// Whether it hands transactions in that the server has neither recorded nor refused.
    var isHandingIn: Bool {
        (phase == .waiting || phase == .attention) && !transactions.isEmpty
    }

    /// Whether it is a use that counts in no window that is known, so that no time takes it away.
    var isUseWithoutWindow: Bool { use.map { $0.until == nil } ?? false }

    /// Calls of one lane go in their order, each behind the one before, unless that one waits for
    /// somebody: a server takes them in any order, and one that it never takes holds up no other for good.
    var lane: Name {
        switch task {
        case .claim(let transaction): Name("purchase/" + transaction.originalID)
        case .restore: "restore"
        case .flow(_, let id): Name("flow/" + id)
        case .use(let use): Name("use/" + use.feature)
        }
    }

    /// Whether there is something left to do by itself.
    var isOpen: Bool { phase == .waiting || phase == .recorded && !isFinished }
}

/// The call as it is sent.
extension QueuedCall {
    /// The end of its path below the customer; what a store signed says its environment itself.
    func path(in environment: StoreEnvironment) -> String {
        switch task {
        case .claim: "purchases"
        case .restore: "restore"
        case .flow: Self.flowPath(in: environment)
        case .use: "usage?environment=" + environment.name
        }
    }

    /// What is told of every flow: what happened, and which it is.
    static func flowBody(_ type: String, _ id: String) -> [JSONMember] {
        [
            JSONMember("type", .string(type)), JSONMember("flowId", .string(id)),
            JSONMember("platform", .string(Source.appStore)),
        ]
    }

    /// Where flows are told.
    static func flowPath(in environment: StoreEnvironment) -> String {
        "flows?environment=" + environment.name
    }

    var body: JSONValue {
        switch task {
        case .claim(let transaction): Self.item(transaction)
        case .restore(let all): .members(["transactions": .array(all.map(Self.item))])
        case .flow(let body, _): body
        case .use(let use): use.body
        }
    }

    private static func item(_ transaction: StoreTransaction) -> JSONValue {
        .members(["store": "app_store", "signedTransaction": .string(transaction.signed)])
    }
}
