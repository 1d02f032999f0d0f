import Entitlements
import EventLog
import PostingIndex

/// Gathers the facts that a question about a customer or a purchase needs, from one prefix of the
/// log (Architecture, "Three ways through the house").
///
/// It walks from stream to stream: names of the customer, the purchases that they claimed or for
/// which a store named them, the customers whom transfers to them name (transitively), and, of
/// whoever else claimed these purchases or was named for them, the links, transfers and erasures.
struct FactLoader {
    let log: any LogReader
    let vault: any VaultReader
    let views: Views
    /// The prefix.
    let size: UInt64

    /// The texts of the facts.
    private(set) var names = FactNameTable()
    /// In the order of reading: a record that several streams name comes several times.
    private var facts: [Fact] = []
    /// The signals of the facts.
    private var signals: [SignalDigest] = []
    /// Events whose signal occurs earlier in their stream (E1).
    private(set) var repeated: [UInt64] = []
    /// Whether anything was ever recorded of the customer.
    private(set) var isSeen = false
    private var queue: [(stream: UInt64, role: Role)] = []
    /// The streams that were met.
    private var streams: [UInt64: Stream] = [:]

    /// What is known of a stream.
    private struct Stream {
        /// The most that was asked of it.
        var role: Role
        /// The last sequence when it was read.
        var lastSequence: UInt64?
    }

    /// Why a stream is read; a higher role reads more.
    private enum Role: Int {
        /// A customer who may have owned a purchase: links, transfers and erasures.
        case mentioned
        /// A customer whose purchases may be asked for: everything.
        case customer
        /// A purchase: everything.
        case purchase
    }

    init(log: any LogReader, vault: any VaultReader, views: Views, size: UInt64) {
        self.log = log
        self.vault = vault
        self.views = views
        self.size = size
    }

    /// The facts about a customer's names, ascending by sequence.
    mutating func facts(ofCustomer stream: UInt64) throws -> [Fact] {
        enqueue(stream, .customer)
        return try load()
    }

    /// The facts about a purchase and whoever owned it, ascending by sequence.
    mutating func facts(ofPurchase stream: UInt64) throws -> [Fact] {
        enqueue(stream, .purchase)
        return try load()
    }

    /// The links, transfers and erasures of a customer, ascending by sequence.
    mutating func facts(mentioning stream: UInt64) throws -> [Fact] {
        enqueue(stream, .mentioned)
        return try load()
    }

    /// The streams of customers that were met.
    var customerStreams: [UInt64] {
        streams.filter { $0.value.role != .purchase }.map(\.key)
    }

    /// The last sequence of each stream that was read, nil for one without entries (E4).
    var lastSequences: [UInt64: UInt64?] { streams.mapValues(\.lastSequence) }

    private mutating func load() throws -> [Fact] {
        while let next = queue.popLast() { try read(next.stream, next.role) }
        return try ComparableTags(log: log, vault: vault).facts(distinct())
    }

    /// Each fact once, ascending by sequence; an event whose signal occurs earlier in its stream is
    /// left out (E1).
    private mutating func distinct() -> [Fact] {
        let order = facts.indices.sorted {
            (facts[$0].sequence, facts[$0].other ?? 0) < (facts[$1].sequence, facts[$1].other ?? 0)
        }
        var met = SignalSet(expecting: facts.count)
        var distinct: [Fact] = []
        distinct.reserveCapacity(facts.count)
        var (last, isKept) = (UInt64?.none, false)
        for index in order {
            let fact = facts[index]
            if fact.sequence != last {
                last = fact.sequence
                isKept = met.insert(signals[index], of: fact.subject)
                if !isKept { repeated.append(fact.sequence) }
            } else if fact.other == distinct.last?.other {
                continue
            }
            if isKept { distinct.append(fact) }
        }
        return distinct
    }

    private mutating func enqueue(_ stream: UInt64, _ role: Role) {
        if let known = streams[stream]?.role, known.rawValue >= role.rawValue { return }
        streams[stream] = Stream(role: role)
        queue.append((stream, role))
    }

    private mutating func read(_ stream: UInt64, _ role: Role) throws {
        let entries = try views.entries(of: stream, below: size)
        streams[stream]?.lastSequence = entries.last?.sequence
        if role == .customer, !entries.isEmpty { isSeen = true }
        let wanted = entries.filter { Self.reads($0.kind, as: role) }.map(\.sequence)
        let start = facts.count
        var purchases: Set<UInt64> = []
        try log.readRecords(wanted) { sequence, record in
            let header = try RecordHeader(checking: record)
            guard header.sequence == sequence else {
                throw LogStorageFault(.damaged, "record \(sequence) is another")
            }
            if role == .customer, try header.eventKind().givesPeriod {
                // Of the purchase everything is read.
                purchases.insert(header.stream)
                return
            }
            try header.appendFacts(of: record, to: &facts, &names)
            while signals.count < facts.count { signals.append(header.signal) }
        }
        for purchase in purchases { enqueue(purchase, .purchase) }
        for index in start..<facts.count { follow(facts[index], from: stream, role) }
    }

    private static func reads(_ kind: UInt8, as role: Role) -> Bool {
        // One of a newer format is read, and stops there (E5).
        guard let kind = EventKind(rawValue: kind) else { return true }
        if role == .mentioned {
            return kind == .customerLinked || kind == .customerTransferred
                || kind == .customerErased
        }
        return kind.isFolded
    }

    private mutating func follow(_ fact: Fact, from stream: UInt64, _ role: Role) {
        switch fact.kind {
        case .customerLinked, .purchaseLinked:
            enqueue(fact.subject, role)
            if let alias = fact.other { enqueue(alias, role) }
        case .customerTransferred:
            // What a transfer brings to the customer counts; whom it takes from may own later.
            if fact.subject == stream {
                if let origin = fact.other { enqueue(origin, role) }
            } else {
                enqueue(fact.subject, .mentioned)
            }
        case .customerClaimed, .customerReleased:
            if role == .purchase {
                enqueue(fact.subject, .mentioned)
            } else if let purchase = fact.other {
                enqueue(purchase, .purchase)
            }
        case .purchaseCompleted, .purchaseRenewed:
            if let account = fact.other { enqueue(account, .mentioned) }
        default: break
        }
    }
}
