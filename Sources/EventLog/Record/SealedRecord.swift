/// A record as its caller hands it in: all but what the writer assigns.
package struct SealedRecord: Sendable {
    /// The bytes; sequence, recorded time, the record that has the evidence and checksum are still
    /// zero.
    var bytes: [UInt8]
    /// The subject's stream.
    package let stream: UInt64
    /// The event's digest.
    package let signal: SignalDigest
    /// What kind of event.
    package let kind: UInt8
    /// The subject's stream and those that the facts name; views list the record under each.
    package let streams: [UInt64]
    private let hasAttached: Bool

    /// The parts of the header that are known before the writer.
    package struct Header: Sendable {
        /// T1, milliseconds since 1970.
        package var time: Int64
        /// T2, milliseconds since 1970.
        package var observedAt: Int64
        /// The subject's stream.
        package var stream: UInt64
        /// What kind of event.
        package var kind: UInt8
        /// Who says it.
        package var source: UInt8
        /// Which environment.
        package var environment: UInt8

        /// Makes a header.
        package init(
            time: Int64,
            observedAt: Int64,
            stream: UInt64,
            kind: UInt8,
            source: UInt8,
            environment: UInt8
        ) {
            self.time = time
            self.observedAt = observedAt
            self.stream = stream
            self.kind = kind
            self.source = source
            self.environment = environment
        }

        /// What the sealed part is bound to: everything that is known before the writer.
        func associatedData(facts: [UInt8]) -> [UInt8] {
            var writer = ByteWriter(reservingCapacity: 32 + facts.count)
            writer.append(RecordHeader.magic)
            writer.append(environment)
            writer.append(kind)
            writer.append(source)
            writer.append(stream)
            writer.append(time)
            writer.append(observedAt)
            writer.append(facts.span)
            return writer.bytes
        }
    }

    /// Lays out a record and seals what identifies somebody; nil if it would be longer than an entry
    /// of tlog-tiles may be.
    ///
    /// `identity`: the ids, sealed under `key`; empty where there are none to keep.
    ///
    /// `nonce`: 96 random bits.
    package init?(
        header: Header,
        signal: SignalDigest,
        facts: [UInt8],
        identity: [UInt8],
        key: StreamKeys?,
        nonce: SealingNonce,
        attached: RecordHeader.Attached,
        attachedDigest: Digest?,
        otherStreams: [UInt64]
    ) throws {
        let sealed =
            try key.map {
                try Sealing.seal(
                    identity,
                    key: $0.sealing,
                    nonce: nonce,
                    associatedData: header.associatedData(facts: facts)
                )
            } ?? []
        var writer = ByteWriter(
            reservingCapacity: RecordHeader.fixedCount + RecordHeader.attachedCount + facts.count
                + sealed.count + RecordHeader.checksumCount
        )
        writer.append(RecordHeader.magic)
        writer.append(UInt32(0))
        for _ in 0..<2 { writer.append(UInt64(0)) }
        writer.append(header.time)
        writer.append(header.observedAt)
        writer.append(header.stream)
        writer.append(header.kind)
        writer.append(header.source)
        writer.append(header.environment)
        writer.append(attached.rawValue)
        guard facts.count < RecordHeader.lengthLimit, sealed.count < RecordHeader.lengthLimit else {
            return nil
        }
        writer.append(UInt16(facts.count))
        writer.append(UInt16(sealed.count))
        writer.append(signal.high)
        writer.append(signal.low)
        if attached != .none {
            writer.append(UInt64(0))
            attachedDigest?.append(to: &writer.bytes)
        }
        writer.append(facts.span)
        writer.append(sealed.span)
        writer.append(UInt32(0))
        guard writer.bytes.count <= RecordHeader.lengthLimit else { return nil }
        writer.replace(at: 4, UInt32(writer.bytes.count))
        bytes = writer.bytes
        stream = header.stream
        kind = header.kind
        self.signal = signal
        streams = [header.stream] + otherStreams
        hasAttached = attached != .none
    }

    /// The record at its place in the log: law 1 holds from here on.
    func placed(sequence: UInt64, recordedAt: Int64, attachedAt: UInt64) -> [UInt8] {
        var writer = ByteWriter(bytes: bytes)
        writer.replace(at: 8, sequence)
        writer.replace(at: 16, UInt64(bitPattern: recordedAt))
        if hasAttached { writer.replace(at: 72, attachedAt) }
        let end = bytes.count - RecordHeader.checksumCount
        writer.replace(at: end, CRC32C.checksum(writer.bytes.span.extracting(0..<end)))
        return writer.bytes
    }
}

extension ByteWriter {
    init(bytes: [UInt8]) {
        self.init(reservingCapacity: 0)
        self.bytes = bytes
    }

    mutating func replace(at offset: Int, _ number: some FixedWidthInteger & UnsignedInteger) {
        for index in 0..<number.bitWidth / 8 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }
}
