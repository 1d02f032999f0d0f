import Entitlements
import EventLog
import PostingIndex
import Synchronization

/// Reads the records of some kinds subject by subject, on all cores, in bounded memory.
///
/// A first pass checks every record, counts what is wanted and gathers the links that make one
/// subject of several streams (C2, P13). Then each core takes a share of the subjects at a time and
/// goes over the log once more for it; two bytes for each record say which ones it may pass over.
/// Nothing is looked up in an index, so what a report says hangs on the log alone.
struct SubjectFold<Item: Sendable>: Sendable {
    let questions: Questions
    /// The prefix.
    let size: UInt64
    let environment: StoreEnvironment
    /// Which kinds are read.
    let kinds: KindSet
    /// The kind that links names of one subject; nil: streams are subjects.
    let link: EventKind?
    /// Which streams are one subject.
    let grouping: Grouping
    /// Reads a record; nil: it is passed over.
    let read: @Sendable (RecordHeader, Span<UInt8>, inout FactNameTable) throws -> Item?

    /// Which of the streams that links name are handed out together.
    enum Grouping: Sendable {
        /// The names of one subject, as the links stand.
        case now
        /// All that any link names together.
        case ever
    }

    /// Items that a core holds at a time; some 60 MB.
    static var partLimit: Int { 200_000 }

    /// What the first pass found.
    private struct Survey: Sendable {
        var count = 0
        /// The bucket of each record's stream; 0: it is not wanted.
        var buckets: [UInt16] = []
        /// Ascending by sequence.
        var links: [(fact: Fact, signal: SignalDigest)] = []

        /// Counts records that nobody wants, up to a number of records.
        mutating func pad(to count: Int) {
            while buckets.count < count { buckets.append(0) }
        }

        /// The links without those whose signal occurs earlier in their stream (E1).
        var distinctLinks: [Fact] {
            var met = SignalSet(expecting: links.count)
            return links.compactMap { met.insert($0.signal, of: $0.fact.subject) ? $0.fact : nil }
        }
    }

    /// Hands each share of the subjects to a body; returns what they gave, in no order.
    ///
    /// - Throws: `LogStorageFault` and `DecodingFault` where a record is damaged, before the body is
    ///   called; what `read` and `body` throw.
    func run<Result: Sendable>(
        _ body: @Sendable (SubjectPart<Item>) throws -> Result
    ) throws -> [Result] {
        let cores = Concurrently.width
        let survey = try survey(cores)
        guard UInt64(survey.buckets.count) == size else {
            throw LogStorageFault(.damaged, "records are missing")
        }
        let subjects = subjects(survey.distinctLinks)
        let parts = survey.count == 0 ? 0 : max(cores, survey.count / Self.partLimit + 1)
        let next = Atomic(0)
        return try Concurrently.map(cores) { _ in
            var results: [Result] = []
            while true {
                let part = next.add(1, ordering: .relaxed).oldValue
                guard part < parts else { return results }
                let found = try gather(part, of: parts, survey.buckets, subjects)
                results.append(try body(found))
            }
        }.flatMap { $0 }
    }

    /// The subject of each stream that a link names.
    private func subjects(_ facts: [Fact]) -> [UInt64: UInt64] {
        // Most logs have none: then no stream is looked up.
        guard let link, !facts.isEmpty else { return [:] }
        let streams = Set(facts.map(\.subject) + facts.compactMap(\.other))
        switch grouping {
        case .now:
            let links = Links(facts, of: link)
            return Dictionary(uniqueKeysWithValues: streams.map { ($0, links.canonical($0)) })
        case .ever:
            var joined = JoinedStreams()
            for fact in facts { if let other = fact.other { joined.join(fact.subject, other) } }
            return Dictionary(uniqueKeysWithValues: streams.map { ($0, joined.root(of: $0)) })
        }
    }

    /// Looks at every record once, each core at a stretch of the log.
    private func survey(_ cores: Int) throws -> Survey {
        let surveys = try Concurrently.map(cores) { core in
            var survey = Survey()
            var names = FactNameTable()
            let (core, cores) = (UInt64(core), UInt64(cores))
            // By quotient and rest: the product may not fit.
            let start = size / cores * core + min(core, size % cores)
            let end = start + size / cores + (core < size % cores ? 1 : 0)
            guard start < end else { return survey }
            survey.buckets.reserveCapacity(Int(end - start))
            let log = questions.log
            try log.scanRecords(from: start, upTo: end, until: questions.walkEnd) {
                sequence,
                record in
                let header = try RecordHeader(checking: record)
                guard header.sequence == sequence else {
                    throw LogStorageFault(.damaged, "record \(sequence) is another")
                }
                let kind = try header.eventKind()
                // A gap has its place, and nobody wants it.
                survey.pad(to: Int(sequence - start))
                guard header.environment == environment.rawValue, kinds.contains(kind) else {
                    survey.buckets.append(0)
                    return true
                }
                survey.buckets.append(Self.bucket(of: header.stream))
                survey.count += 1
                if kind == link {
                    var facts: [Fact] = []
                    try header.appendFacts(of: record, to: &facts, &names)
                    survey.links += facts.map { ($0, header.signal) }
                }
                return true
            }
            survey.pad(to: Int(end - start))
            return survey
        }
        return surveys.reduce(into: Survey()) { whole, survey in
            whole.count += survey.count
            whole.buckets += survey.buckets
            whole.links += survey.links
        }
    }

    /// The items of a share of the subjects.
    private func gather(
        _ part: Int,
        of parts: Int,
        _ buckets: [UInt16],
        _ subjects: [UInt64: UInt64]
    ) throws -> SubjectPart<Item> {
        var found = SubjectPart<Item>()
        var isWanted = Array(repeating: false, count: Int(UInt16.max) + 1)
        // From 1: bucket 0 is of records that nobody wants.
        var bucket = part == 0 ? parts : part
        while bucket < isWanted.count {
            isWanted[bucket] = true
            bucket += parts
        }
        // What is linked may be of a subject in another bucket.
        for stream in subjects.keys { isWanted[Int(Self.bucket(of: stream))] = true }
        try questions.log.readBlocks(from: 0, upTo: size) { start, block in
            try questions.walkEnd.check()
            let count = try Bundle.count(block)
            for index in 0..<count {
                let sequence = start + UInt64(index)
                guard sequence < size else { return false }
                guard isWanted[Int(buckets[Int(sequence)])] else { continue }
                let range = try Bundle.range(of: index, count: count, in: block)
                let record = block.extracting(range)
                let header = try RecordHeader(reading: record)
                let subject = subjects[header.stream] ?? header.stream
                guard Int(Self.bucket(of: subject)) % parts == part else { continue }
                try found.add(header, of: subject) { try read(header, record, &$0) }
            }
            return true
        }
        found.sort()
        return found
    }

    /// One of 65 535 buckets, from 1: neighbours lie apart.
    private static func bucket(of stream: UInt64) -> UInt16 {
        let spread = StreamNumber.counter(of: stream) &* 0x9E37_79B9_7F4A_7C15
        return UInt16((spread >> 48) % 65_535 + 1)
    }
}

/// Kinds of event as bits: they are asked for each record of a log.
struct KindSet: Sendable {
    private var bits: UInt64 = 0

    init(_ isMember: (EventKind) -> Bool) {
        for kind in EventKind.allCases where isMember(kind) {
            bits |= 1 << UInt64(kind.rawValue)
        }
    }

    func contains(_ kind: EventKind) -> Bool { bits >> UInt64(kind.rawValue) & 1 == 1 }
}

/// The items of some subjects, subject by subject.
struct SubjectPart<Item: Sendable>: Sendable {
    /// The texts of the items.
    private(set) var names = FactNameTable()
    private var items: [Item] = []
    private var signals: [(stream: UInt64, digest: SignalDigest)] = []
    /// Ascending by subject; within a subject by sequence.
    private var order: [(subject: UInt64, index: Int)] = []

    /// Adds what a body reads of a record; records come ascending by sequence.
    mutating func add(
        _ header: RecordHeader,
        of subject: UInt64,
        _ read: (inout FactNameTable) throws -> Item?
    ) throws {
        guard let item = try read(&names) else { return }
        order.append((subject, items.count))
        items.append(item)
        signals.append((header.stream, header.signal))
    }

    mutating func sort() {
        order.sort { ($0.subject, $0.index) < ($1.subject, $1.index) }
    }

    /// Hands out the items of each subject, ascending by sequence, without those whose signal
    /// occurs earlier in their stream (E1).
    func forEach(_ body: (_ subject: UInt64, [Item]) throws -> Void) rethrows {
        var start = 0
        while start < order.count {
            let group = order[start...].prefix { $0.subject == order[start].subject }
            start = group.endIndex
            var met = SignalSet(expecting: group.count)
            let own = group.compactMap { place -> Item? in
                let signal = signals[place.index]
                return met.insert(signal.digest, of: signal.stream) ? items[place.index] : nil
            }
            try body(group[group.startIndex].subject, own)
        }
    }
}

/// Streams that links name together, followed through all of them.
private struct JoinedStreams {
    private var parents: [UInt64: UInt64] = [:]

    /// One of the streams that are joined, the same for all of them.
    mutating func root(of stream: UInt64) -> UInt64 {
        var stream = stream
        while let parent = parents[stream] {
            // Halves the path for the next who asks.
            if let next = parents[parent] { parents[stream] = next }
            stream = parent
        }
        return stream
    }

    mutating func join(_ left: UInt64, _ right: UInt64) {
        let (left, right) = (root(of: left), root(of: right))
        if left != right { parents[max(left, right)] = min(left, right) }
    }
}
