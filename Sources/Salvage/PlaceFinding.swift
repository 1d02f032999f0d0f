import EventLog

/// What was found for one place of the log.
enum PlaceFinding {
    /// A record; `isConfirmed`: its hash is the tree's.
    case record(Candidate, isConfirmed: Bool)
    /// Nothing that may stand there; the leaf hash where a tile still has it.
    case gap(LostRecord.Cause, leaf: Digest?, pages: ClosedRange<UInt64>?)

    /// A whole record that claims the place.
    struct Candidate {
        var bytes: [UInt8]
        var leaf: Digest
        /// Whether it is in use there, as far as anything tells.
        var isLive: Bool
        /// Whether it comes from a second copy.
        var isSupplied: Bool
        /// Where it stands in what is salvaged.
        var bytesThere: Range<UInt64>?
    }
}

/// All records that claim the places of one bundle, and the choice among them.
struct BundleFinding {
    let first: UInt64
    let width: Int
    /// The leaf hashes, where a tile of them survived.
    let known: [Digest]?
    private(set) var places: [[PlaceFinding.Candidate]]
    /// Whether a place's record is in use and has another hash than the tree's.
    private(set) var isContradicted: [Bool]

    init(first: UInt64, width: Int, known: [Digest]?) {
        self.first = first
        self.width = width
        self.known = known
        places = Array(repeating: [], count: width)
        isContradicted = Array(repeating: false, count: width)
    }

    /// Adds what a source has of the bundle.
    ///
    /// `isSupplied`: whether it is a second copy, whose places say nothing.
    mutating func add(from source: any DamagedSource, isSupplied: Bool) throws {
        try source.records(ofBundle: first / Bundle.recordCount) { record, location in
            add(record, at: isSupplied ? nil : location, isSupplied: isSupplied)
        }
    }

    /// Adds a record that claims a place; what a known hash speaks against is only noted.
    private mutating func add(
        _ record: Span<UInt8>,
        at location: RecordLocation?,
        isSupplied: Bool
    ) {
        // Bytes whose checksum does not hold claim nothing.
        guard let sequence = (try? RecordHeader(checking: record))?.sequence,
            sequence >= first, sequence - first < UInt64(width)
        else { return }
        let isLive = location?.isLive ?? false
        let place = Int(sequence - first)
        let leaf = TreeHash.leaf(record)
        if let known, known[place] != leaf {
            isContradicted[place] = isContradicted[place] || isLive
            return
        }
        if let same = places[place].firstIndex(where: { $0.leaf == leaf }) {
            if isLive { places[place][same].isLive = true }
            return
        }
        places[place].append(
            PlaceFinding.Candidate(
                bytes: record.copy(),
                leaf: leaf,
                isLive: isLive,
                isSupplied: isSupplied,
                bytesThere: location?.bytes
            )
        )
    }

    /// Whether more copies could change anything: a place is empty, or nothing confirms its record.
    var isUnsettled: Bool { known == nil || places.contains { $0.isEmpty } }

    /// A record by which a tile is known that has lost its name.
    var sample: (place: Int, leaf: Digest)? {
        places.enumerated().lazy.compactMap { place, all in
            all.first.map { (place, $0.leaf) }
        }.first
    }

    /// The record for a place where no hash decides: the only one, or the only one in use.
    func choice(_ place: Int, preferringSupplied: Bool) -> PlaceFinding.Candidate? {
        let all = places[place]
        if preferringSupplied, let supplied = only(all.filter(\.isSupplied)) { return supplied }
        let own = all.filter { !$0.isSupplied }
        return only(own.filter(\.isLive)) ?? only(own) ?? (own.isEmpty ? only(all) : nil)
    }

    private func only(_ candidates: [PlaceFinding.Candidate]) -> PlaceFinding.Candidate? {
        candidates.count == 1 ? candidates[0] : nil
    }

    /// Decides all places.
    ///
    /// `subtrees`: ranges of places whose root is known, where no leaf hashes are.
    func settled(subtrees: [(places: Range<Int>, root: Digest)]) -> [PlaceFinding] {
        var findings: [PlaceFinding] = (0..<width).map { place in
            if let known {
                return places[place].first.map { .record($0, isConfirmed: true) }
                    ?? .gap(
                        isContradicted[place] ? .altered : .missing,
                        leaf: known[place],
                        pages: nil
                    )
            }
            return choice(place, preferringSupplied: false).map { .record($0, isConfirmed: false) }
                ?? .gap(places[place].isEmpty ? .missing : .ambiguous, leaf: nil, pages: nil)
        }
        guard known == nil else { return findings }
        for subtree in subtrees {
            for isSuppliedFirst in [false, true] {
                let chosen = subtree.places.compactMap {
                    choice($0, preferringSupplied: isSuppliedFirst)
                }
                guard chosen.count == subtree.places.count,
                    TreeEdge(leaves: chosen.map(\.leaf)).root == subtree.root
                else { continue }
                for (place, candidate) in zip(subtree.places, chosen) {
                    findings[place] = .record(candidate, isConfirmed: true)
                }
                break
            }
        }
        return findings
    }
}
