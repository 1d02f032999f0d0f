import Crypto

/// Evidence as it is kept: what a signal's events were read from, sealed under a key of all the
/// streams that they or it name, so that losing one closes it.
///
/// Layout: `ELE1`, length u32, encoding and cover u8, stream count u16, streams u64 each; where it is
/// in parts also the count of shared parts u16 and the SHA-256 of each; ciphertext with nonce and
/// tag, CRC-32C.
package enum SealedEvidence {
    static let magic: UInt32 = 0x3145_4C45
    /// Bytes of evidence that are kept at most.
    package static let byteLimit = 1 << 20
    /// Streams under whose keys one evidence is sealed; what names more has a key of its own.
    package static let streamLimit = 256
    /// Shared parts that one evidence may name.
    package static let sharedPartLimit = 64

    /// How the content is encoded before it is sealed.
    package enum Encoding: UInt8, Sendable {
        /// As it is.
        case plain = 0
        /// One Zstandard frame (RFC 8878).
        case zstd = 1
        /// A list of parts, of which some stand elsewhere.
        case parts = 2
        /// Such a list in one Zstandard frame.
        case zstdParts = 3

        /// Whether the content is a list of parts.
        package var isInParts: Bool { self == .parts || self == .zstdParts }
        /// Whether the content is a Zstandard frame.
        package var isCompressed: Bool { self == .zstd || self == .zstdParts }

        /// The encoding of a content.
        package init(isInParts: Bool, isCompressed: Bool) {
            switch (isInParts, isCompressed) {
            case (false, false): self = .plain
            case (false, true): self = .zstd
            case (true, false): self = .parts
            case (true, true): self = .zstdParts
            }
        }
    }

    /// Whether an evidence is closed by losing anybody whom it names.
    ///
    /// Stands beside the encoding, in the same byte.
    package enum Cover: UInt8, Sendable {
        /// Sealed under the keys of its events' streams, as older programs did: it may name others.
        case events = 0
        /// Sealed under the keys of all whom its events or its payload name.
        case everybody = 4
        /// It names more than `streamLimit`, and is sealed under the key of a stream that is for it
        /// alone.
        case itself = 8
    }

    /// Seals a content.
    ///
    /// `streams`: ascending, each with its keys; at most `streamLimit`.
    ///
    /// `sharedParts`: the digests of the parts that stand elsewhere; of a content in parts only, at
    /// most `sharedPartLimit`.
    package static func seal(
        _ content: [UInt8],
        encoding: Encoding,
        cover: Cover,
        streams: [(number: UInt64, keys: StreamKeys)],
        sharedParts: [Digest] = [],
        nonce: SealingNonce
    ) throws -> [UInt8] {
        precondition(encoding.isInParts || sharedParts.isEmpty, "only parts are shared")
        precondition(sharedParts.count <= sharedPartLimit, "shared parts have a limit")
        precondition(streams.count <= streamLimit, "streams have a limit")
        var writer = ByteWriter(
            reservingCapacity: content.count + 64 + streams.count * 8
                + sharedParts.count * Digest.byteCount
        )
        writer.append(magic)
        writer.append(UInt32(0))
        writer.append(encoding.rawValue | cover.rawValue)
        writer.append(UInt16(streams.count))
        for stream in streams { writer.append(stream.number) }
        if encoding.isInParts {
            writer.append(UInt16(sharedParts.count))
            for digest in sharedParts { writer.append(digest) }
        }
        try writer.append(
            sealedUnder: key(streams.map(\.keys)),
            nonce: nonce,
            boundTo: 8..<writer.bytes.count
        ) { $0.append(content.span) }
        writer.replace(at: 4, UInt32(writer.bytes.count + 4))
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    /// Opens an evidence.
    ///
    /// `keys`: of a stream; nil where it is erased, which closes the evidence.
    ///
    /// - Returns: the content, its encoding and the digests of its shared parts; nil if a stream is
    ///   erased, or the evidence deleted.
    /// - Throws: `DecodingFault`, or what `keys` throws.
    package static func open(
        _ evidence: Span<UInt8>,
        keys: (UInt64) throws -> StreamKeys?
    ) throws -> (content: [UInt8], encoding: Encoding, sharedParts: [Digest])? {
        if ErasedEvidence.digest(evidence) != nil { return nil }
        let header = try Header(reading: evidence)
        var streamKeys: [StreamKeys] = []
        for stream in header.streams {
            guard let keys = try keys(stream) else { return nil }
            streamKeys.append(keys)
        }
        let content = Sealing.open(
            evidence.copy(header.sealed),
            key: key(streamKeys),
            associatedData: evidence.copy(8..<header.sealed.lowerBound)
        )
        guard let content else { throw DecodingFault.unopened }
        return (content, header.encoding, header.sharedParts)
    }

    /// The digests of the shared parts that an evidence names, none where it is deleted; needs no
    /// key.
    ///
    /// - Throws: `DecodingFault`.
    package static func sharedParts(of evidence: Span<UInt8>) throws(DecodingFault) -> [Digest] {
        if ErasedEvidence.digest(evidence) != nil { return [] }
        return try Header(reading: evidence).sharedParts
    }

    /// The streams under whose keys an evidence is sealed, and whom that covers; nil where it is
    /// deleted; needs no key.
    ///
    /// - Throws: `DecodingFault`.
    package static func seal(
        of evidence: Span<UInt8>
    ) throws(DecodingFault) -> (streams: [UInt64], cover: Cover)? {
        if ErasedEvidence.digest(evidence) != nil { return nil }
        let header = try Header(reading: evidence)
        return (header.streams, header.cover)
    }

    /// What stands in clear before the sealed content.
    private struct Header {
        var encoding: Encoding
        var cover: Cover
        var streams: [UInt64] = []
        var sharedParts: [Digest] = []
        var sealed: Range<Int>

        init(reading bytes: Span<UInt8>) throws(DecodingFault) {
            var cursor = ByteCursor()
            guard try cursor.uint32(bytes) == magic, try Int(cursor.uint32(bytes)) == bytes.count,
                bytes.count >= 15 + Sealing.overhead
            else { throw DecodingFault(what: "not evidence of this version", offset: 0) }
            let end = bytes.count - RecordHeader.checksumCount
            guard CRC32C.checksum(bytes.extracting(0..<end)) == bytes.uint32(at: end) else {
                throw DecodingFault(what: "evidence checksum differs", offset: end)
            }
            let mark = try cursor.uint8(bytes)
            guard let encoding = Encoding(rawValue: mark & 3),
                let cover = Cover(rawValue: mark & ~3)
            else {
                throw DecodingFault(what: "an evidence of a newer format", offset: 8, isNewer: true)
            }
            self.encoding = encoding
            self.cover = cover
            for _ in 0..<(try cursor.uint16(bytes)) { streams.append(try cursor.uint64(bytes)) }
            if encoding.isInParts {
                for _ in 0..<(try cursor.uint16(bytes)) {
                    let range = try cursor.bytes(bytes, count: Digest.byteCount)
                    sharedParts.append(Digest(bytes, at: range.lowerBound))
                }
            }
            guard cursor.position < end else {
                throw DecodingFault(what: "evidence is too short", offset: cursor.position)
            }
            sealed = cursor.position..<end
        }
    }

    /// HKDF over the keys of all streams, in the order of their numbers.
    private static func key(_ keys: [StreamKeys]) -> SymmetricKey {
        let material = keys.reduce(into: [UInt8]()) { material, keys in
            material.append(copying: keys.evidence)
        }
        return KeyedHash(extractedFrom: material).expanded("entitlement-ledger evidence key v1")
    }
}
