/// A record as its caller hands it in: all but what the writer assigns.
package struct SealedRecord: Sendable {
    /// The bytes; sequence, recorded time, the record that has the evidence and checksum are still
    /// zero.
    let bytes: [UInt8]
    /// The subject's stream.
    package let stream: UInt64
    /// The event's digest.
    package let signal: SignalDigest
    /// What kind of event.
    package let kind: UInt8
    /// The streams that the facts name beside the subject's; of most events there are none.
    package let others: [UInt64]
    /// Whether evidence or an attachment belongs to it.
    let hasAttached: Bool

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

        /// What the sealed part is bound to before the facts: everything else that is known before
        /// the writer.
        var bound: BoundBytes {
            var bound = BoundBytes()
            bound.append(RecordHeader.magic)
            bound.append(environment)
            bound.append(kind)
            bound.append(source)
            bound.append(stream)
            bound.append(time)
            bound.append(observedAt)
            return bound
        }
    }

    /// The bytes that a sealed part is bound to before the facts.
    struct BoundBytes {
        private(set) var bytes = InlineArray<31, UInt8>(repeating: 0)
        private var end = 0

        mutating func append(_ number: some FixedWidthInteger) {
            for shift in stride(from: 0, to: number.bitWidth, by: 8) {
                bytes[end] = UInt8(truncatingIfNeeded: number >> shift)
                end += 1
            }
        }
    }

    /// Bytes that most records have room in.
    private static let usualByteCount = 256

    /// Lays out a record and seals what identifies somebody, all in one place; nil if it would be
    /// longer than an entry of tlog-tiles may be.
    ///
    /// `identity`: writes the ids, sealed under `key`; without one they are not written.
    ///
    /// `nonce`: 96 random bits.
    package init?(
        header: Header,
        signal: SignalDigest,
        key: StreamKeys?,
        nonce: SealingNonce,
        attached: RecordHeader.Attached,
        attachedDigest: Digest?,
        otherStreams: [UInt64],
        facts: (inout ByteWriter) -> Void,
        identity: (inout ByteWriter) -> Void
    ) throws {
        var writer = ByteWriter(reservingCapacity: Self.usualByteCount)
        writer.append(header, signal, attached, attachedDigest)
        let start = writer.bytes.count
        facts(&writer)
        let end = writer.bytes.count
        if let key {
            nonce.append(to: &writer)
            identity(&writer)
            try Cipher.seal(
                &writer.bytes,
                from: end,
                key: key.sealing,
                binding: header.bound.bytes.span,
                start..<end
            )
        }
        let sealedCount = writer.bytes.count - end
        writer.append(UInt32(0))
        guard end - start < RecordHeader.lengthLimit, sealedCount < RecordHeader.lengthLimit,
            writer.bytes.count <= RecordHeader.lengthLimit
        else { return nil }
        writer.replace(at: 4, UInt32(writer.bytes.count))
        writer.replace(at: 52, UInt16(end - start))
        writer.replace(at: 54, UInt16(sealedCount))
        bytes = writer.bytes
        stream = header.stream
        kind = header.kind
        self.signal = signal
        others = otherStreams
        hasAttached = attached != .none
    }

    /// Lays out a record whose facts and ids stand somewhere already.
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
        try self.init(
            header: header,
            signal: signal,
            key: key,
            nonce: nonce,
            attached: attached,
            attachedDigest: attachedDigest,
            otherStreams: otherStreams,
            facts: { $0.append(facts.span) },
            identity: { $0.append(identity.span) }
        )
    }
}

extension ByteWriter {
    /// Appends the fixed part of a record; the lengths are still zero.
    fileprivate mutating func append(
        _ header: SealedRecord.Header,
        _ signal: SignalDigest,
        _ attached: RecordHeader.Attached,
        _ attachedDigest: Digest?
    ) {
        append(RecordHeader.magic)
        append(UInt32(0))
        for _ in 0..<2 { append(UInt64(0)) }
        append(header.time)
        append(header.observedAt)
        append(header.stream)
        append(header.kind)
        append(header.source)
        append(header.environment)
        append(attached.rawValue)
        append(UInt32(0))
        append(signal.high)
        append(signal.low)
        guard attached != .none else { return }
        append(UInt64(0))
        if let attachedDigest { append(attachedDigest) }
    }
}
