package import Crypto

/// 96 random bits, never derived from anything: two seals under one key never share one.
package struct SealingNonce: Sendable {
    /// The bytes.
    package let bytes: [UInt8]

    /// Bytes of a nonce.
    package static let byteCount = 12

    /// Draws a nonce.
    package init(using randomness: inout RandomSource) {
        bytes = randomness.bytes(Self.byteCount)
    }
}

/// Authenticated encryption: AES-256-GCM as `nonce || ciphertext || tag`.
package enum Sealing {
    /// Bytes that sealing adds.
    package static let overhead = SealingNonce.byteCount + 16

    /// Seals bytes, bound to associated data.
    package static func seal(
        _ plain: [UInt8],
        key: SymmetricKey,
        nonce: SealingNonce,
        associatedData: [UInt8]
    ) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            plain,
            using: key,
            nonce: AES.GCM.Nonce(data: nonce.bytes),
            authenticating: associatedData
        )
        guard let combined = box.combined else {
            preconditionFailure("a nonce of 12 bytes gives a combined box")
        }
        return Array(combined)
    }

    /// Opens what `seal` made; nil if key, bytes or associated data are not those.
    package static func open(
        _ sealed: [UInt8],
        key: SymmetricKey,
        associatedData: [UInt8]
    ) -> [UInt8]? {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            return Array(try AES.GCM.open(box, using: key, authenticating: associatedData))
        } catch {
            return nil
        }
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
        return Sealing.open(
            record.copy(sealed),
            key: keys.sealing,
            associatedData: header.associatedData(facts: record.copy(facts))
        )
    }
}
