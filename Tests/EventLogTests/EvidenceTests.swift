import Crypto
import EventLog
import Foundation
import Testing

/// Evidence as schemas/log-format.md lays it out.
struct `An evidence` {
    private static let streams: [(number: UInt64, keys: StreamKeys)] = [
        (4097, StreamKeys(SymmetricKey(data: Array(repeating: UInt8(1), count: 32)))),
        (8194, StreamKeys(SymmetricKey(data: Array(repeating: UInt8(2), count: 32)))),
    ]
    private static let digests = ["a", "b"].map { TreeHash.attached(Array($0.utf8).span) }
    private static let content = Array("content".utf8)

    private static func keys(_ number: UInt64) -> StreamKeys? {
        streams.first { $0.number == number }?.keys
    }

    /// The page's words, put together without the program's own writer.
    private static func evidence(_ encoding: UInt8, digests: [EventLog.Digest]?) throws -> [UInt8] {
        func integer(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var clear: [UInt8] = [encoding] + integer(2, 2) + integer(4097, 8) + integer(8194, 8)
        if let digests { clear += integer(digests.count, 2) + digests.flatMap(\.bytes) }
        // HKDF-Expand to one hash is one HMAC (RFC 5869, section 2.3).
        let material = [UInt8(1), 2].flatMap { byte in
            Array(
                HMAC<SHA256>.authenticationCode(
                    for: Array("entitlement-ledger evidence v1".utf8) + [1],
                    using: SymmetricKey(data: Array(repeating: byte, count: 32))
                )
            )
        }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: material),
            info: Array("entitlement-ledger evidence key v1".utf8),
            outputByteCount: 32
        )
        let box = try AES.GCM.seal(content, using: key, authenticating: clear)
        let sealed = Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
        let head = Array("ELE1".utf8) + integer(8 + clear.count + sealed.count + 4, 4)
        let whole = head + clear + sealed
        return whole + integer(Int(CRC32C.checksum(whole.span)), 4)
    }

    // The first encodings have the bytes that they always had.
    @Test(arguments: [UInt8(0), 1, 2, 3])
    func `laid out as the page says opens`(encoding: UInt8) throws {
        let digests = encoding < 2 ? nil : Self.digests
        let evidence = try Self.evidence(encoding, digests: digests)
        let opened = try #require(try SealedEvidence.open(evidence.span, keys: Self.keys))
        #expect(opened.content == Self.content)
        #expect(opened.encoding.rawValue == encoding)
        #expect(opened.sharedParts == digests ?? [])
        // Without any key.
        #expect(try SealedEvidence.sharedParts(of: evidence.span) == digests ?? [])
    }

    @Test(arguments: [UInt8(0), 1, 2, 3], [UInt8(0), 4, 8])
    func `is laid out as the page says`(encoding: UInt8, cover: UInt8) throws {
        let digests = encoding < 2 ? nil : Self.digests
        let expected = try Self.evidence(encoding | cover, digests: digests)
        var randomness = RandomSource.system
        let evidence = try SealedEvidence.seal(
            Self.content,
            encoding: try #require(SealedEvidence.Encoding(rawValue: encoding)),
            cover: try #require(SealedEvidence.Cover(rawValue: cover)),
            streams: Self.streams,
            sharedParts: digests ?? [],
            nonce: SealingNonce(using: &randomness)
        )
        // All but the nonce and what follows from it.
        let clearCount = 8 + 3 + 16 + (digests.map { 2 + $0.count * 32 } ?? 0)
        #expect(evidence.count == expected.count)
        #expect(evidence.prefix(clearCount) == expected.prefix(clearCount))
        let seal = try #require(try SealedEvidence.seal(of: evidence.span))
        #expect(seal.cover.rawValue == cover)
        #expect(seal.streams == Self.streams.map(\.number))
        #expect(try SealedEvidence.open(evidence.span, keys: Self.keys)?.content == Self.content)
    }

    // Storage, "Evidence": losing one key closes it
    @Test(arguments: [UInt64(4097), 8194])
    func `is closed where one of its streams is erased`(erased: UInt64) throws {
        let evidence = try Self.evidence(2, digests: Self.digests)
        let opened = try SealedEvidence.open(evidence.span) { $0 == erased ? nil : Self.keys($0) }
        #expect(opened == nil)
        #expect(try SealedEvidence.sharedParts(of: evidence.span) == Self.digests)
    }

    // E5
    @Test func `of an encoding that is not known means a newer format`() throws {
        let evidence = try Self.evidence(16, digests: nil)
        let fault = #expect(throws: DecodingFault.self) {
            _ = try SealedEvidence.sharedParts(of: evidence.span)
        }
        #expect(fault?.isNewer == true)
    }

    // The digests in clear are bound to the sealed content, and every byte to the checksum.
    @Test func `with any byte changed, or cut short, does not open`() throws {
        let evidence = try Self.evidence(2, digests: Self.digests)
        #expect(try SealedEvidence.open(evidence.span, keys: Self.keys) != nil)
        for place in evidence.indices {
            var changed = evidence
            changed[place] ^= 1
            #expect(throws: DecodingFault.self, "byte \(place)") {
                _ = try SealedEvidence.open(changed.span, keys: Self.keys)
            }
            let cut = Array(evidence.prefix(place))
            #expect(throws: DecodingFault.self, "\(place) bytes") {
                _ = try SealedEvidence.open(cut.span, keys: Self.keys)
            }
            // Whoever corrects the checksum still has not the key.
            guard (9..<evidence.count - 4).contains(place) else { continue }
            let checksum = CRC32C.checksum(changed.span.extracting(0..<evidence.count - 4))
            let end = evidence.count - 4
            for shift in 0..<4 {
                changed[end + shift] = UInt8(truncatingIfNeeded: checksum >> (8 * shift))
            }
            let opened = try? SealedEvidence.open(changed.span, keys: Self.keys)
            #expect(opened == nil, "byte \(place)")
        }
    }
}
