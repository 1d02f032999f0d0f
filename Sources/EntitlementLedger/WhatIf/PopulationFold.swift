import Encodings
import Entitlements
import EventLog
import PostingIndex
import Synchronization

/// Folds all customers of an environment on all cores, in bounded memory.
///
/// A first pass finds which streams belong together (`StreamComponents`) and checks every record.
/// Then each core takes components of some hundred thousand facts at a time: it goes over the log
/// once more, puts their facts in the order of components, and folds one after the other. So the
/// log is read in its order, once for each such part, and nothing is looked up in an index.
struct PopulationFold: Sendable {
    let questions: Questions
    let size: UInt64
    let environment: StoreEnvironment
    let catalogs: CatalogHistory

    /// Facts that a core holds at a time; some 90 MB.
    static let partLimit = 600_000
    /// Customers times facts of one component beyond which each customer's facts are looked up:
    /// a chain of customers must not cost the square of its length.
    static let componentLimit = 1 << 16

    /// Components that are folded together.
    private struct Part {
        var components: Range<UInt32>
        var factCount: Int
    }

    /// Hands each customer's timeline to a body; every core adds to a result of its own.
    func run<Result: Sendable>(
        into initial: Result,
        _ add: @Sendable (inout Result, CustomerTimeline) throws -> Void
    ) throws -> [Result] {
        let components = try components()
        return try run([0..<UInt32(components.sizes.count)], of: components, into: initial, add)
    }

    /// The components of the prefix; every record is checked.
    func components() throws -> StreamComponents {
        StreamComponents(try survey(Concurrently.width))
    }

    /// Hands out the customers of some components, which no two ranges share.
    func run<Result: Sendable>(
        _ ranges: [Range<UInt32>],
        of components: StreamComponents,
        into initial: Result,
        _ add: @Sendable (inout Result, CustomerTimeline) throws -> Void
    ) throws -> [Result] {
        let cores = Concurrently.width
        let parts = ranges.filter { !$0.isEmpty }.flatMap { self.parts(components, $0, cores) }
        let next = Atomic(0)
        return try Concurrently.map(cores) { _ in
            var result = initial
            while true {
                let part = next.add(1, ordering: .relaxed).oldValue
                guard part < parts.count else { return result }
                try fold(parts[part], components) { try add(&result, $0) }
            }
        }
    }

    // MARK: Parts

    /// Looks at every record once, each core at a stretch of the log.
    private func survey(_ cores: Int) throws -> StreamSurvey {
        let highestCounter = try questions.log.end().highestCounter
        let surveys = try Concurrently.map(cores) { core in
            var survey = try StreamSurvey(highestCounter: highestCounter)
            let (core, cores) = (UInt64(core), UInt64(cores))
            // By quotient and rest: the product may not fit.
            let start = size / cores * core + min(core, size % cores)
            let end = start + size / cores + (core < size % cores ? 1 : 0)
            guard start < end else { return survey }
            let log = questions.log
            try log.scanRecords(from: start, upTo: end, until: questions.walkEnd) {
                sequence,
                record in
                let header = try RecordHeader(checking: record)
                guard header.sequence == sequence else {
                    throw LogStorageFault(.damaged, "record \(sequence) is another")
                }
                if header.environment == environment.rawValue,
                    header.stream != StreamNumber.catalog
                {
                    try survey.add(header, record)
                }
                return true
            }
            return survey
        }
        var whole = surveys[0]
        for survey in surveys.dropFirst() { whole.merge(survey) }
        return whole
    }

    private func parts(
        _ components: StreamComponents,
        _ range: Range<UInt32>,
        _ cores: Int
    ) -> [Part] {
        let sizes = components.sizes[Int(range.lowerBound)..<Int(range.upperBound)]
        let total = sizes.reduce(0) { $0 + Int($1) }
        // At least one for each core.
        let limit = min(Self.partLimit, total / cores + 1)
        var parts: [Part] = []
        var (first, count) = (Int(range.lowerBound), 0)
        for (number, size) in zip(sizes.indices, sizes) {
            // One that fills a part alone is looked up, not held.
            let held = isHeld(size) ? Int(size) : 0
            if count + held > limit && number > first {
                parts.append(Part(components: UInt32(first)..<UInt32(number), factCount: count))
                (first, count) = (number, 0)
            }
            count += held
        }
        parts.append(
            Part(components: UInt32(first)..<range.upperBound, factCount: count)
        )
        return parts
    }

    private func isHeld(_ size: UInt32) -> Bool { size <= Self.partLimit }

    // MARK: One part

    private func fold(
        _ part: Part,
        _ components: StreamComponents,
        _ body: (CustomerTimeline) throws -> Void
    ) throws {
        var facts = ComponentFacts(part.components, sizes: components.sizes) { isHeld($0) }
        let log = questions.log
        try log.scanRecords(from: 0, upTo: size, until: questions.walkEnd) { _, record in
            // Most records are of other parts: only their streams are looked at.
            let stream = try RecordHeader.stream(of: record)
            let counter = StreamNumber.counter(of: stream)
            guard counter < UInt64(components.numbers.count) else { return true }
            let component = components.numbers[Int(counter)]
            guard part.components.contains(component), stream != StreamNumber.catalog else {
                return true
            }
            let header = try RecordHeader(reading: record)
            if header.environment == environment.rawValue, try header.eventKind().isFolded {
                try facts.add(header, record, to: component)
            }
            return true
        }
        let customers = components.customers(in: part.components)
        var start = 0
        while start < customers.count {
            try questions.walkEnd.check()
            let component = customers[start].component
            let group = customers[start...].prefix { $0.component == component }
            start = group.endIndex
            let streams = try group.filter { try $0.isCertain || isCustomer($0.stream) }
                .map(\.stream)
            guard !streams.isEmpty else { continue }
            guard isHeld(components.sizes[Int(component)]) else {
                try lookUp(streams, body)
                continue
            }
            try fold(streams, facts.distinct(of: component), facts.names.names, body)
        }
    }

    private func isCustomer(_ stream: UInt64) throws -> Bool {
        guard let name = try questions.vault.name(of: stream) else { return false }
        if case .customer? = Subject(name.subject) { return true }
        return false
    }

    /// Folds the customers of one component.
    private func fold(
        _ customers: [UInt64],
        _ facts: [Fact],
        _ names: FactNames,
        _ body: (CustomerTimeline) throws -> Void
    ) throws {
        let links = Links(facts, of: .customerLinked)
        let canonical = customers.count == 1 ? customers : distinct(customers, links)
        guard canonical.count == 1 || canonical.count * facts.count <= Self.componentLimit else {
            return try lookUp(canonical, body)
        }
        let facts = try ComparableTags(log: questions.log, vault: questions.vault).facts(facts)
        for customer in canonical {
            let positions = try questions.positions(of: customer, in: catalogs)
            try body(
                CustomerTimeline(
                    of: customer,
                    facts: facts,
                    names: names,
                    catalogs: catalogs,
                    position: { positions[$0] ?? 0 }
                )
            )
        }
    }

    private func distinct(_ customers: [UInt64], _ links: Links) -> [UInt64] {
        Set(customers.map { links.canonical($0) }).sorted()
    }

    /// Folds customers whose component is too large, each from the streams that concern it.
    private func lookUp(
        _ customers: [UInt64],
        _ body: (CustomerTimeline) throws -> Void
    ) throws {
        var met: Set<UInt64> = []
        for customer in customers {
            let timeline = try questions.loadTimeline(ofStream: customer, size: size).timeline
            if met.insert(timeline.customer).inserted { try body(timeline) }
        }
    }
}

/// The facts of some components, component by component.
private struct ComponentFacts {
    private(set) var names = FactNameTable()
    private let first: UInt32
    /// Where the facts of each component start, and one past those that came so far.
    private var starts: [Int] = []
    private var ends: [Int] = []
    private var facts: [Fact]
    private var signals: [SignalDigest]
    /// Facts of one record.
    private var read: [Fact] = []

    private static let nothing = Fact(
        sequence: 0,
        kind: .signalNoted,
        time: Instant(milliseconds: 0),
        observedAt: Instant(milliseconds: 0),
        subject: 0
    )

    /// Room for components whose sizes are known; none for those that are not held.
    init(_ components: Range<UInt32>, sizes: [UInt32], isHeld: (UInt32) -> Bool) {
        first = components.lowerBound
        var count = 0
        for component in components {
            let size = sizes[Int(component)]
            starts.append(count)
            count += isHeld(size) ? Int(size) : 0
        }
        ends = starts
        starts.append(count)
        facts = Array(repeating: Self.nothing, count: count)
        signals = Array(repeating: SignalDigest(high: 0, low: 0), count: count)
    }

    /// Adds a record's facts; records come ascending by sequence.
    mutating func add(
        _ header: RecordHeader,
        _ record: Span<UInt8>,
        to component: UInt32
    ) throws {
        let index = Int(component - first)
        // No room: the component is looked up.
        guard starts[index] < starts[index + 1] else { return }
        read.removeAll(keepingCapacity: true)
        try header.appendFacts(of: record, to: &read, &names)
        guard ends[index] + read.count <= starts[index + 1] else {
            throw LogStorageFault(.damaged, "record \(header.sequence) changed while it was read")
        }
        for fact in read {
            facts[ends[index]] = fact
            signals[ends[index]] = header.signal
            ends[index] += 1
        }
    }

    /// The facts of a component, ascending by sequence, without those whose signal occurs earlier
    /// in their stream (E1).
    func distinct(of component: UInt32) -> [Fact] {
        let index = Int(component - first)
        let range = starts[index]..<ends[index]
        var met = SignalSet(expecting: range.count)
        var distinct: [Fact] = []
        distinct.reserveCapacity(range.count)
        var (last, isKept) = (UInt64?.none, false)
        for place in range {
            if facts[place].sequence != last {
                last = facts[place].sequence
                isKept = met.insert(signals[place], of: facts[place].subject)
            }
            if isKept { distinct.append(facts[place]) }
        }
        return distinct
    }
}
