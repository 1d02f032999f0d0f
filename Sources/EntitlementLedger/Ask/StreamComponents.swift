import Entitlements
import EventLog

/// Streams that events join: a customer's names, what they claimed, and whoever else claimed it.
///
/// All facts that a customer's timeline needs are of one component. Found in one pass over the
/// log, which checks every record; streams are known by their counters, which are dense.
struct StreamComponents {
    /// The component of each stream, by the stream's counter; ascending with its lowest counter.
    private(set) var numbers: [UInt32] = []
    /// Facts of each component.
    private(set) var sizes: [UInt32] = []
    private let subjects: [UInt16]

    /// Finds the components of what was surveyed.
    init(_ survey: StreamSurvey) {
        var forest = Forest(count: survey.counts.count)
        for (left, right) in survey.links { forest.join(left, right) }
        subjects = survey.subjects
        numbers = Array(repeating: 0, count: survey.counts.count)
        for counter in survey.counts.indices {
            // A root is the lowest of its component, so that it comes first.
            let root = forest.root(of: UInt32(counter))
            if Int(root) == counter {
                numbers[counter] = UInt32(sizes.count)
                sizes.append(0)
            } else {
                numbers[counter] = numbers[Int(root)]
            }
            sizes[Int(numbers[counter])] += survey.counts[counter]
        }
    }

    /// The streams of some components that are a customer's, or may be, with their component;
    /// ascending by component.
    func customers(
        in components: Range<UInt32>
    ) -> [(component: UInt32, stream: UInt64, isCertain: Bool)] {
        var customers: [(component: UInt32, stream: UInt64, isCertain: Bool)] = []
        for counter in numbers.indices where components.contains(numbers[counter]) {
            let subject = subjects[counter]
            guard subject & (StreamSurvey.isCustomer | StreamSurvey.mayBeCustomer) != 0 else {
                continue
            }
            customers.append(
                (
                    numbers[counter],
                    StreamNumber.number(
                        counter: UInt64(counter),
                        shard: Int(subject & StreamSurvey.shardMask)
                    ),
                    subject & StreamSurvey.isCustomer != 0
                )
            )
        }
        customers.sort { ($0.component, $0.stream) < ($1.component, $1.stream) }
        return customers
    }

    /// How many streams of each component are a customer's, or may be.
    var customerCounts: [UInt32] {
        var counts = [UInt32](repeating: 0, count: sizes.count)
        let customer = StreamSurvey.isCustomer | StreamSurvey.mayBeCustomer
        for counter in numbers.indices where subjects[counter] & customer != 0 {
            counts[Int(numbers[counter])] += 1
        }
        return counts
    }

    /// Sets of numbers that are joined; the root of each is its lowest.
    private struct Forest {
        private var parents: [UInt32]

        init(count: Int) { parents = (0..<count).map { UInt32($0) } }

        mutating func root(of number: UInt32) -> UInt32 {
            var number = number
            while parents[Int(number)] != number {
                // Halves the path for the next who asks.
                parents[Int(number)] = parents[Int(parents[Int(number)])]
                number = parents[Int(number)]
            }
            return number
        }

        mutating func join(_ left: UInt32, _ right: UInt32) {
            let (left, right) = (root(of: left), root(of: right))
            parents[Int(max(left, right))] = min(left, right)
        }
    }
}

/// What one pass over a part of the log says of its streams, by their counters.
struct StreamSurvey {
    /// Facts of each stream's records.
    private(set) var counts: [UInt32]
    /// Streams that one record names.
    private(set) var links: [(UInt32, UInt32)] = []
    /// The stream's shard and what kind of subject it is.
    private(set) var subjects: [UInt16]

    static let shardMask: UInt16 = 0x0FFF
    static let isCustomer: UInt16 = 0x8000
    /// A customer or a store: only its name tells.
    static let mayBeCustomer: UInt16 = 0x4000
    /// Streams that a log may have for its whole population to be folded; 6 bytes each.
    static let streamLimit: UInt64 = 1 << 28

    /// An empty survey of streams up to a counter.
    ///
    /// - Throws: `LogStorageFault` where the log's end names an impossible counter.
    init(highestCounter: UInt64) throws {
        guard highestCounter < Self.streamLimit else {
            throw LogStorageFault(.damaged, "the log's end names an impossible stream")
        }
        counts = Array(repeating: 0, count: Int(highestCounter) + 1)
        subjects = Array(repeating: 0, count: Int(highestCounter) + 1)
    }

    /// Notes what a record says.
    mutating func add(_ header: RecordHeader, _ record: Span<UInt8>) throws {
        let counter = try counter(header.stream)
        let kind = try header.eventKind()
        let others = try header.otherStreams(record)
        if kind.isFolded { counts[counter] += UInt32(max(others.count, 1)) }
        for other in others {
            let other = try (stream: other, counter: self.counter(other))
            links.append((UInt32(counter), UInt32(other.counter)))
            // What a customer's event names is a purchase where it is a claim.
            if kind == .customerLinked || kind == .customerTransferred || kind.givesPeriod {
                note(Self.isCustomer, of: other.stream, other.counter)
            }
        }
        if kind.isOfCustomer {
            note(Self.isCustomer, of: header.stream, counter)
        } else if !kind.isOfPurchase, try !header.namesStore(record) {
            note(Self.mayBeCustomer, of: header.stream, counter)
        }
    }

    private mutating func note(_ kind: UInt16, of stream: UInt64, _ counter: Int) {
        subjects[counter] |= kind | UInt16(StreamNumber.shard(of: stream))
    }

    private func counter(_ stream: UInt64) throws -> Int {
        let counter = StreamNumber.counter(of: stream)
        guard counter < UInt64(counts.count) else {
            throw LogStorageFault(.damaged, "a record names a stream beyond the log's end")
        }
        return Int(counter)
    }

    /// Adds what another part of the log says.
    mutating func merge(_ other: StreamSurvey) {
        for counter in counts.indices {
            counts[counter] += other.counts[counter]
            subjects[counter] |= other.subjects[counter]
        }
        links += other.links
    }
}
