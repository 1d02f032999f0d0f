package import Crypto

/// 96 random bits, never derived from anything: two seals under one key never share one.
package struct SealingNonce: Sendable {
    private let first: UInt64
    private let last: UInt32

    /// Bytes of a nonce.
    package static let byteCount = 12

    /// Draws a nonce.
    package init(using randomness: inout RandomSource) {
        first = randomness.next()
        last = UInt32(truncatingIfNeeded: randomness.next())
    }

    /// Appends the bytes.
    func append(to writer: inout ByteWriter) {
        writer.append(first)
        writer.append(last)
    }
}

/// Authenticated encryption: AES-256-GCM as `nonce || ciphertext || tag`.
package enum Sealing {
    /// Bytes that sealing adds.
    package static let overhead = SealingNonce.byteCount + Cipher.tagByteCount

    /// Seals bytes, bound to associated data.
    ///
    /// - Throws: where OpenSSL does not have the cipher.
    package static func seal(
        _ plain: [UInt8],
        key: SymmetricKey,
        nonce: SealingNonce,
        associatedData: [UInt8]
    ) throws -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: plain.count + overhead)
        nonce.append(to: &writer)
        writer.append(plain.span)
        try Cipher.seal(&writer.bytes, from: 0, key: key, binding: associatedData.span)
        return writer.bytes
    }

    /// Opens what `seal` made; nil if key, bytes or associated data are not those.
    package static func open(
        _ sealed: [UInt8],
        key: SymmetricKey,
        associatedData: [UInt8]
    ) -> [UInt8]? {
        let bound = associatedData.span
        // Without the cipher nothing opens.
        return try? Cipher.open(sealed.span, key: key, binding: bound, bound.extracting(0..<0))
    }
}

extension ByteWriter {
    /// Appends what a body writes, sealed where it stands.
    ///
    /// `bound`: the bytes written before that it is bound to.
    ///
    /// - Throws: where OpenSSL does not have the cipher.
    package mutating func append(
        sealedUnder key: SymmetricKey,
        nonce: SealingNonce,
        boundTo bound: Range<Int>,
        _ plain: (inout ByteWriter) -> Void
    ) throws {
        let start = bytes.count
        nonce.append(to: &self)
        plain(&self)
        try Cipher.seal(&bytes, from: start, key: key, binding: Span<UInt8>(), bound)
    }
}

extension DecodingFault {
    /// Another key, or bytes that were altered.
    package static let unopened = DecodingFault(what: "what was sealed does not open", offset: 0)
}

extension RecordHeader {
    /// Opens the sealed part of a record; nil if the keys are others, or its bytes were altered.
    package func identity(of record: Span<UInt8>, keys: StreamKeys) -> [UInt8]? {
        guard !sealed.isEmpty else { return [] }
        let header = SealedRecord.Header(
            time: time,
            observedAt: observedAt,
            stream: stream,
            kind: kind,
            source: source,
            environment: environment
        )
        // Without the cipher nothing opens.
        return try? Cipher.open(
            record.extracting(sealed),
            key: keys.sealing,
            binding: header.bound.bytes.span,
            record.extracting(facts)
        )
    }
}
