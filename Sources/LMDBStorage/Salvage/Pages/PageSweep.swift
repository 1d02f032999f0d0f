import EventLog
import Salvage

// Fits throughout: places lie within a window of the file, lengths of 32 bits are held against it.

/// What one stretch of a damaged log file holds, found in two ways at once: by what pages say of
/// themselves, and by the magics of what describes itself, wherever it stands.
///
/// Nothing that is found is believed yet: raw pages also hold what was superseded, and what was never
/// committed.
struct PageSweep: Sendable {
    /// Records whose checksum holds.
    private(set) var runs: [RecordRun] = []
    /// Evidences and attachments whose checksum holds, by the first half of their SHA-256.
    private(set) var attached: [SignalDigest: DatabasePage.Place] = [:]
    /// Shared parts of evidence whose checksum holds.
    private(set) var sharedParts: [DatabasePage.Place] = []
    /// Entries of new streams whose checksum holds, superseded ones among them.
    private(set) var newStreams: [DatabasePage.Place] = []
    /// Values that may be tiles.
    private(set) var tiles: [TileKey: [DatabasePage.Place]] = [:]
    /// Values as long as a full tile: a tile whose key is lost is known by what it holds.
    private(set) var unnamedTiles: [DatabasePage.Place] = []
    /// Values that may be ends of the log, by their size.
    private(set) var ends: [UInt64: [LogEnd]] = [:]
    /// Texts that may be signed notes, by the size that they stand under.
    private(set) var notes: [UInt64: Set<String>] = [:]
    /// Places where a record's magic stands and its checksum does not hold.
    private(set) var brokenCount: UInt64 = 0

    /// Bytes that are read at once.
    static let stretch = 1 << 20
    /// Bytes behind a stretch that its last record may reach into.
    private static let overlap = RecordHeader.lengthLimit
    /// Superseded places of one tile that are remembered.
    private static let tilePlaceLimit = 64
    /// Different ends of one size that are remembered.
    private static let endLimit = 8
    /// Bytes of an evidence or an attachment.
    private static let attachedLimit = 9 << 20
    /// Bytes of false beginnings of evidences that are read in a stretch: more would be a trap.
    private static let falseByteLimit = 64 << 20

    private enum Magic {
        static let record: UInt32 = 0x3152_4C45
        static let evidence: UInt32 = 0x3145_4C45
        static let attachment: UInt32 = 0x3141_4C45
        static let erased: UInt32 = 0x3144_4C45
        static let shared: UInt32 = 0x3153_4C45
    }

    init() {}

    /// Looks at the stretch that begins at an offset, a multiple of the page size.
    ///
    /// Cost: one pass over the bytes, a CRC over what describes itself, SHA-256 of evidences.
    init(of bytes: any RawBytes, at start: UInt64, pageSize: Int) throws {
        let window = try bytes.read(at: start, count: Self.stretch + Self.overlap)
        let own = min(Self.stretch, window.count)
        findByMagic(window.span, own, start, bytes)
        var page = 0
        while page + DatabasePage.headerCount <= own {
            let end = min(page + pageSize, window.count)
            let offset = start + UInt64(page)
            readLeaf(window.span.extracting(page..<end), offset, pageSize)
            takeUnnamedTile(window.span.extracting(page..<end), offset, pageSize)
            page += pageSize
        }
    }

    // MARK: By magic

    private mutating func findByMagic(
        _ window: Span<UInt8>,
        _ own: Int,
        _ start: UInt64,
        _ bytes: any RawBytes
    ) {
        var place = 0
        var falseBytes = 0
        while let found = window.nextMagic(from: place), found < own {
            let offset = start + UInt64(found)
            let magic = window.uint32(at: found)
            if magic == Magic.record {
                place = found + takeRecord(window, found, offset)
                continue
            }
            if magic == VaultEntry.magic {
                place = found + takeNewStream(window, found, offset)
                continue
            }
            place = found + 1
            guard [Magic.evidence, Magic.erased, Magic.attachment, Magic.shared].contains(magic),
                found + 8 <= window.count, falseBytes < Self.falseByteLimit
            else { continue }
            let count = Int(window.uint32(at: found + 4))
            guard (12...Self.attachedLimit).contains(count) else { continue }
            if takeAttached(window, found, DatabasePage.Place(offset: offset, count: count), bytes)
            {
                place = found + count
            } else {
                falseBytes += count
            }
        }
    }

    /// Takes a record; how far to go on: behind it, or behind what is none.
    private mutating func takeRecord(
        _ window: Span<UInt8>,
        _ found: Int,
        _ offset: UInt64
    ) -> Int {
        guard found + 8 <= window.count else { return 1 }
        let length = Int(window.uint32(at: found + 4))
        guard length <= RecordHeader.lengthLimit, length <= window.count - found,
            let header = try? RecordHeader(checking: window.extracting(found..<found + length))
        else {
            brokenCount += 1
            return 1
        }
        append(header.sequence, length, offset)
        return length
    }

    /// Takes an entry of a stream; how far to go on.
    private mutating func takeNewStream(
        _ window: Span<UInt8>,
        _ found: Int,
        _ offset: UInt64
    ) -> Int {
        guard let (_, count) = VaultItem.find(in: window, at: found) else { return 1 }
        newStreams.append(DatabasePage.Place(offset: offset, count: count))
        return count
    }

    private mutating func append(_ sequence: UInt64, _ length: Int, _ offset: UInt64) {
        if let last = runs.indices.last,
            runs[last].isContinued(bySequence: sequence, at: offset)
        {
            runs[last].add(length)
        } else if sequence < UInt64.max - Bundle.recordCount {
            runs.append(RecordRun(first: sequence, offset: offset, byteCount: length, count: 1))
        }
    }

    /// Takes an evidence, an attachment or a shared part; false: its checksum does not hold.
    private mutating func takeAttached(
        _ window: Span<UInt8>,
        _ found: Int,
        _ place: DatabasePage.Place,
        _ bytes: any RawBytes
    ) -> Bool {
        if place.count <= window.count - found {
            return keepAttached(window.extracting(found..<found + place.count), place)
        }
        // A place that cannot be read has nothing to keep.
        guard place.end <= bytes.byteCount,
            let whole = try? bytes.read(at: place.offset, count: place.count),
            whole.count == place.count
        else { return false }
        return keepAttached(whole.span, place)
    }

    private mutating func keepAttached(_ value: Span<UInt8>, _ place: DatabasePage.Place) -> Bool {
        let end = value.count - 4
        guard CRC32C.checksum(value.extracting(0..<end)) == value.uint32(at: end) else {
            return false
        }
        if value.uint32(at: 0) == Magic.shared {
            sharedParts.append(place)
        } else {
            attached[AttachedBytes.digest(of: value).half] = place
        }
        return true
    }

    // MARK: By page

    private mutating func readLeaf(_ page: Span<UInt8>, _ offset: UInt64, _ pageSize: Int) {
        DatabasePage.forEachNode(page) { node in
            guard let place = node.place(pageAt: offset, pageSize: pageSize) else { return }
            if node.key.count == 16, let key = TileKey(page.extracting(node.key)) {
                takeTile(key, place)
            } else if node.key.count == 8, case .inline(let range) = node.value {
                takeEnd(page.extracting(node.key).bigEndian(at: 0), page.extracting(range))
            }
        }
    }

    private mutating func takeTile(_ key: TileKey, _ place: DatabasePage.Place) {
        let width = Digest.byteCount
        guard place.count > 0, place.count.isMultiple(of: width),
            place.count <= TileCoordinate.fullWidth * width
        else { return }
        var places = tiles[key] ?? []
        guard !places.contains(place), places.count < Self.tilePlaceLimit else { return }
        places.append(place)
        tiles[key] = places
    }

    private mutating func takeUnnamedTile(
        _ page: Span<UInt8>,
        _ offset: UInt64,
        _ pageSize: Int
    ) {
        let count = TileCoordinate.fullWidth * Digest.byteCount
        let pages = (DatabasePage.headerCount + count - 1) / pageSize + 1
        guard DatabasePage.overflowCount(page) == pages else { return }
        unnamedTiles.append(.init(offset: offset + UInt64(DatabasePage.headerCount), count: count))
    }

    private mutating func takeEnd(_ key: UInt64, _ value: Span<UInt8>) {
        if key == 0, let end = LogEnd(salvaging: value) {
            add(end)
        } else if value.count <= SignedNote.byteLimit,
            let text = String(validating: value.copy(), as: UTF8.self),
            (try? SignedNote.parse(text)) != nil
        {
            notes[key, default: []].insert(text)
        }
    }

    private mutating func add(_ end: LogEnd) {
        var known = ends[end.size] ?? []
        guard !known.contains(end), known.count < Self.endLimit else { return }
        known.append(end)
        ends[end.size] = known
    }

    // MARK: Joining

    /// Adds what the stretch behind holds.
    mutating func join(_ next: PageSweep) {
        var rest = next.runs[...]
        if let last = runs.indices.last, let first = rest.first,
            runs[last].isContinued(bySequence: first.first, at: first.offset),
            runs[last].count + first.count <= Int(Bundle.recordCount)
        {
            runs[last].byteCount += RecordRun.prefixCount + first.byteCount
            runs[last].count += first.count
            rest = rest.dropFirst()
        }
        runs += rest
        attached.merge(next.attached) { old, _ in old }
        sharedParts += next.sharedParts
        newStreams += next.newStreams
        unnamedTiles += next.unnamedTiles
        for (key, places) in next.tiles { for place in places { takeTile(key, place) } }
        for end in next.ends.values.joined() { add(end) }
        notes.merge(next.notes) { $0.union($1) }
        brokenCount += next.brokenCount
    }

    /// Puts the runs in the order of their sequences.
    mutating func sort() { runs.sort { ($0.first, $0.offset) < ($1.first, $1.offset) } }
}

extension Digest {
    /// The first 16 bytes: enough to look something up by, before the whole is compared.
    var half: SignalDigest {
        let bytes = bytes
        return SignalDigest(high: bytes.span.uint64(at: 0), low: bytes.span.uint64(at: 8))
    }
}

extension Span<UInt8> {
    /// Where the next `EL` stands that four bytes fit behind, from a place on; nil: nowhere.
    func nextMagic(from start: Int) -> Int? {
        var place = start
        while place + 4 <= count {
            if self[place] == 0x45, self[place + 1] == 0x4C { return place }
            place += 1
            // Eight bytes without an `E` are passed over at once.
            while place + 8 <= count, !uint64(at: place).hasByteE { place += 8 }
        }
        return nil
    }
}

extension UInt64 {
    /// Whether one of the eight bytes is `E` (Bit Twiddling Hacks, "Determine if a word has a byte
    /// equal to n").
    fileprivate var hasByteE: Bool {
        let rest = self ^ 0x4545_4545_4545_4545
        return (rest &- 0x0101_0101_0101_0101) & ~rest & 0x8080_8080_8080_8080 != 0
    }
}
