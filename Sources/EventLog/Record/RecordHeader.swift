/// The fixed part of a record (schemas/log-format.md), read in place.
///
/// All integers are little-endian. What `kind`, `source` and `environment` mean is the
/// application's affair.
package struct RecordHeader: Sendable, Hashable {
    /// Bytes of the whole record.
    package var length: Int
    /// Place in the log.
    package var sequence: UInt64
    /// T3, milliseconds since 1970.
    package var recordedAt: Int64
    /// T1, milliseconds since 1970.
    package var time: Int64
    /// T2, milliseconds since 1970.
    package var observedAt: Int64
    /// The subject's stream.
    package var stream: UInt64
    /// What kind of event.
    package var kind: UInt8
    /// Who says it; 255: the name stands in the facts.
    package var source: UInt8
    /// Which environment.
    package var environment: UInt8
    /// What is attached to the record.
    package var attached: Attached
    /// Keyed digest of (environment, source, event id).
    package var signal: SignalDigest
    /// Sequence of the record that it is attached to; its own if it is the first.
    package var attachedAt: UInt64
    /// SHA-256 of the bytes that are attached; nil for none.
    package var attachedDigest: Digest?
    /// Where the facts stand in the record.
    package var facts: Range<Int>
    /// Where the sealed part stands in the record.
    package var sealed: Range<Int>

    /// What is attached to a record, bound into the tree by its hash.
    package enum Attached: UInt8, Sendable {
        /// Nothing.
        case none = 0
        /// Evidence: what the event was read from, sealed.
        case evidence = 1
        /// An attachment in clear: a catalog document.
        case attachment = 2
    }

    /// `ELR1`.
    static let magic: UInt32 = 0x3152_4C45
    static let fixedCount = 72
    static let attachedCount = 40
    static let checksumCount = 4
    /// A tlog-tiles entry has at most so many bytes (C2SP tlog-tiles, "Log Entries").
    package static let lengthLimit = 65_535
    /// The first sequence that no record has: what is added to one below it stays within 64 bits.
    static let sequenceLimit: UInt64 = 1 << 62

    /// Reads and checks a record: magic, version, lengths and CRC-32C.
    ///
    /// - Throws: `DecodingFault`. Cost: one pass over the bytes.
    package init(checking record: Span<UInt8>) throws(DecodingFault) {
        try self.init(reading: record)
        let end = length - Self.checksumCount
        guard CRC32C.checksum(record.extracting(0..<end)) == record.uint32(at: end) else {
            throw DecodingFault(what: "record checksum differs", offset: end)
        }
    }

    /// The stream of a record's subject, for a scan that passes over most records; nothing else is
    /// looked at.
    ///
    /// - Throws: `DecodingFault` where the bytes are too short for a record.
    package static func stream(of record: Span<UInt8>) throws(DecodingFault) -> UInt64 {
        guard record.count >= fixedCount else {
            throw DecodingFault(what: "record is too short", offset: record.count)
        }
        return record.uint64(at: 40)
    }

    /// Reads the fixed part and checks its lengths, but not the checksum.
    package init(reading record: Span<UInt8>) throws(DecodingFault) {
        guard record.count >= Self.fixedCount + Self.checksumCount else {
            throw DecodingFault(what: "record is too short", offset: record.count)
        }
        guard record.uint32(at: 0) == Self.magic else {
            throw DecodingFault(what: "not a record of this version", offset: 0)
        }
        guard let attached = Attached(rawValue: record[51]) else {
            throw DecodingFault(what: "unknown companion", offset: 51)
        }
        let start = Self.fixedCount + (attached == .none ? 0 : Self.attachedCount)
        facts = start..<start + Int(record.uint16(at: 52))
        sealed = facts.upperBound..<facts.upperBound + Int(record.uint16(at: 54))
        length = Int(record.uint32(at: 4))
        guard length == record.count, sealed.upperBound + Self.checksumCount == length else {
            throw DecodingFault(what: "record lengths differ", offset: 4)
        }
        sequence = record.uint64(at: 8)
        guard sequence < Self.sequenceLimit else {
            throw DecodingFault(what: "no log has so many records", offset: 8)
        }
        recordedAt = record.int64(at: 16)
        time = record.int64(at: 24)
        observedAt = record.int64(at: 32)
        stream = record.uint64(at: 40)
        kind = record[48]
        source = record[49]
        environment = record[50]
        self.attached = attached
        signal = SignalDigest(high: record.uint64(at: 56), low: record.uint64(at: 64))
        if attached == .none {
            attachedAt = sequence
            attachedDigest = nil
        } else {
            attachedAt = record.uint64(at: 72)
            attachedDigest = Digest(record.extracting(80..<112))
        }
    }
}

/// A 16-byte keyed digest that stands for (environment, source, event id) (E1).
package struct SignalDigest: Hashable, Sendable, Comparable {
    /// The first eight bytes.
    package var high: UInt64
    /// The last eight bytes.
    package var low: UInt64

    /// Makes a digest.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Any total order.
    package static func < (left: SignalDigest, right: SignalDigest) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
