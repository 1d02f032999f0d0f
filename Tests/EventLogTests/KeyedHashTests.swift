import Crypto
import Encodings
import Testing

@testable import EventLog

@Suite struct KeyedHashTests {
    /// RFC 4231, sections 4.2, 4.3 and 4.5.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                (1...25).map { UInt8($0) }, [UInt8](repeating: 0xCD, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
        ] as [([UInt8], [UInt8], String)]
    )
    func `a code is the published one`(key: [UInt8], message: [UInt8], code: String) {
        let hash = KeyedHash(SymmetricKey(data: key))
        #expect(Hexadecimal.encode(hash.code(for: message.span).bytes) == code)
    }

    @Test func `codes are those of HMAC-SHA256, whatever the lengths`() {
        var generator = SeededGenerator(seed: 1)
        for keyCount in [1, 20, 32, 63, 64] {
            let bytes = (0..<keyCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let key = SymmetricKey(data: bytes)
            let hash = KeyedHash(key)
            for count in Array(0...130) + [1000, 4096] {
                let message = (0..<count).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let expected = Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
                // Twice: the first must leave nothing behind.
                for _ in 0..<2 {
                    #expect(
                        hash.code(for: message.span).bytes == expected,
                        "key of \(keyCount), message of \(count) bytes, seed 1"
                    )
                }
            }
        }
    }

    @Test func `a stream's keys are derived by HKDF`() {
        let root = SymmetricKey(data: (0..<32).map { UInt8($0) })
        let sealing = HKDF<SHA256>.expand(
            pseudoRandomKey: root,
            info: Array("entitlement-ledger seal v1".utf8),
            outputByteCount: StreamKeys.byteCount
        )
        let tagging = HKDF<SHA256>.expand(
            pseudoRandomKey: root,
            info: Array("entitlement-ledger tag v1".utf8),
            outputByteCount: StreamKeys.byteCount
        )
        #expect(StreamKeys(root).sealing == sealing)
        #expect(StreamKeys(root).tagging == tagging)
        #expect(sealing != tagging)
    }

    @Test(arguments: [1, 2, 3, 256])
    func `the key of evidence is derived by HKDF from all keys`(count: Int) {
        var generator = SeededGenerator(seed: 6)
        let material = (0..<count * StreamKeys.byteCount).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        let expected = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: material),
            info: Array("purpose".utf8),
            outputByteCount: StreamKeys.byteCount
        )
        #expect(KeyedHash(extractedFrom: material).expanded("purpose") == expected)
    }

    @Test func `a digest is the first half of a code`() {
        let hash = KeyedHash(SymmetricKey(data: [UInt8](repeating: 1, count: 32)))
        let code = hash.code(for: Array("a".utf8).span)
        let digest = SignalDigest(code)
        #expect(digest.high == code.bytes.span.uint64(at: 0))
        #expect(digest.low == code.bytes.span.uint64(at: 8))
    }
}
