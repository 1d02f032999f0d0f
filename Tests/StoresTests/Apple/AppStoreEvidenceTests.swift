import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Testing

@testable import Stores

struct `The evidence of the App Store` {
    /// The shared pieces, however deep.
    private static func shared(_ parts: [EvidencePart]) -> [[UInt8]] {
        parts.flatMap { part -> [[UInt8]] in
            switch part {
            case .bytes: []
            case .shared(let bytes): [bytes]
            case .base64URL(let parts): shared(parts)
            }
        }
    }

    /// The first part of a compact JWS, as text.
    private static func header(of jws: [UInt8]) -> [UInt8] {
        Array(jws.prefix { $0 != UInt8(ascii: ".") })
    }

    // row 7.6
    @Test func `holds each chain of a notification as one shared piece`() async throws {
        let jws = try AppStoreSample.store()
            .notification("DID_RENEW", start: AppStoreSample.start)
        let bodies = [jws, Array(#"{"signedPayload":""#.utf8) + jws + Array("\"}\n".utf8)]
        let verified = try await AppStoreSample.verifier()
            .notification(jws, now: AppStoreSample.now).get()
        for body in bodies {
            let submission = AppStoreMapping.submission(for: verified, body: body)
            let parts = try #require(submission.evidenceParts)
            #expect(parts.flattened == body)
            let shared = Self.shared(parts)
            #expect(shared.count == 3 && Set(shared).count == 1)
            #expect(shared.first == Self.header(of: jws))
            let rest = Self.plainCount(parts)
            print("A notification of \(body.count) bytes has \(rest) of its own")
            #expect(rest < 4_000)
        }
    }

    /// The bytes that are not shared, base64url undone.
    private static func plainCount(_ parts: [EvidencePart]) -> Int {
        parts.reduce(0) { (count: Int, part: EvidencePart) -> Int in
            switch part {
            case .bytes(let bytes): count + bytes.count
            case .shared: count
            case .base64URL(let parts): count + plainCount(parts)
            }
        }
    }

    // Law 6: what is shared is kept in clear, and may name nobody.
    @Test func `shares nothing that was not verified`() async throws {
        let store = try AppStoreSample.store()
        let jws = try store.notification("DID_RENEW", start: AppStoreSample.start)
        let stranger = Array(repeating: UInt8(ascii: "a"), count: 2000) + Array(".e30.e30".utf8)
        let body =
            Array(#"{"other":""#.utf8) + stranger + Array(#"","signedPayload":""#.utf8) + jws
            + Array(#""}"#.utf8)
        let verified = try await AppStoreSample.verifier()
            .notification(jws, now: AppStoreSample.now).get()
        let parts = try #require(
            AppStoreMapping.submission(for: verified, body: body).evidenceParts
        )
        #expect(parts.flattened == body)
        #expect(Set(Self.shared(parts)) == [Self.header(of: jws)])
        let local = try SimulatedAppStore(
            authority: store.authority,
            environment: "LocalTesting"
        )
        .transaction(start: AppStoreSample.start)
        let unsigned = try await LocalTestingVerifier(bundleIDs: [store.bundleID])
            .transaction(local, now: AppStoreSample.now).get()
        let ownParts = try #require(AppStoreMapping.submission(for: unsigned).evidenceParts)
        #expect(Self.shared(ownParts).isEmpty && ownParts.flattened == local)
    }

    @Test func `comes back as it was, whatever it is`() throws {
        let jws = try AppStoreSample.store()
            .notification("DID_RENEW", start: AppStoreSample.start)
        let headers = [Self.header(of: jws)]
        let decoded = [try CompactJWS(jws).decoded()]
        let seed = UInt64.random(in: .min ... .max)
        print("App Store evidence from seed \(seed)")
        var random = SplitMix64(seed: seed)
        var sharing = 0
        for _ in 0..<300 {
            var body = jws
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: body[index] = random.pick(Array("A.=\"_é".utf8))
                case 1: body.removeSubrange(index...)
                case 2: body.insert(contentsOf: jws.prefix(index), at: index)
                default: body.insert(UInt8(ascii: "."), at: index)
                }
                if body.isEmpty { break }
            }
            let parts = AppStoreEvidence(headers: headers).parts(of: body)
            #expect(parts.flattened == body)
            #expect(AppStoreEvidence(headers: headers, decoded: decoded).parts(of: body) == parts)
            if !Self.shared(parts).isEmpty { sharing += 1 }
        }
        #expect(sharing > 30)
        #expect(AppStoreEvidence(headers: headers).parts(of: []).isEmpty)
    }

    // What was verified is not decoded a second time: not for its parts, nor for whom it names.
    @Test func `is taken apart by what was read before`() throws {
        let store = try AppStoreSample.store()
        let jws = try store.transaction(
            start: AppStoreSample.start,
            .members(["appAccountToken": "ann"])
        )
        let body = Array(#"{"signedTransactionInfo":""#.utf8) + jws + Array(#""}"#.utf8)
        let headers = [Self.header(of: jws)]
        let read = try CompactJWS(jws).decoded()
        let names = PayloadNames.appStore.subjects(in: body)
        #expect(names.contains(.customer("ann")))
        #expect(PayloadNames.appStore.subjects(in: body, decoded: [read]) == names)
        #expect(PayloadNames.appStore.subjects(in: jws, decoded: [read]) == names)
        // The control: what is said to have been read is believed.
        let other = DecodedJWS(
            text: read.text,
            payload: Array("other".utf8),
            json: .members(["appAccountToken": "bob"])
        )
        let parts = AppStoreEvidence(headers: headers, decoded: [other]).parts(of: body)
        #expect(parts.contains(.base64URL([.bytes(Array("other".utf8))])))
        for payload in [body, jws] {
            #expect(
                PayloadNames.appStore.subjects(in: payload, decoded: [other]) == [.customer("bob")]
            )
        }
    }

    @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
    func `of the vectors comes back as it was`() throws {
        let cases = try #require(try Vectors.json("apple/cases-jws.json")["cases"]?.array)
        var count = 0
        for path in cases.compactMap({ $0["file"]?.string }) {
            let body = try Vectors.bytes("apple/" + path)
            let header = Self.header(of: body)
            let parts = AppStoreEvidence(headers: [header]).parts(of: body)
            #expect(parts.flattened == body, "\(path)")
            #expect(Self.shared(parts) == [header], "\(path)")
            count += 1
        }
        #expect(count > 15)
    }
}
