import Encodings
import Entitlements
import StoreSimulator
import Stores
import Testing

struct `A verified chain` {
    static let now = AppStoreSample.now

    private static func transaction(
        _ authority: SigningAuthority,
        signed day: String = "2026-01-01"
    ) throws -> [UInt8] {
        try SimulatedAppStore(authority: authority)
            .transaction(start: AppStoreSample.instant(day))
    }

    // row 9.3: no network is asked, and a known chain not even its certificates again
    @Test func `is verified once for all messages that come with it`() async throws {
        let verifier = try AppStoreSample.verifier()
        let notification = try AppStoreSample.store()
            .notification("DID_RENEW", start: AppStoreSample.start)
        for _ in 0..<3 {
            #expect(await verifier.notification(notification, now: Self.now).refusal == nil)
        }
        #expect(verifier.chainVerificationCount == 1)
        #expect(verifier.keptChainCount == 1)
    }

    @Test func `is verified anew if any certificate is another`() async throws {
        let verifier = try AppStoreSample.verifier()
        let authority = try AppStoreSample.authority.get()
        let renewed = try authority.renewed(validity: AppStoreSample.validity)
        #expect(
            await verifier.transaction(try Self.transaction(authority), now: Self.now).refusal
                == nil
        )
        // The same leaf and intermediate under another root, as a peer's cache does not see.
        let mixed = try authority.sign(
            Array(BadMessage.payload().description.utf8),
            as: SignedForm(chain: authority.certificates.prefix(2) + [renewed.certificates[0]])
        )
        #expect(await verifier.transaction(mixed, now: Self.now).refusal == .untrustedRoot)
        #expect(
            await verifier.transaction(try Self.transaction(renewed), now: Self.now).refusal == nil
        )
        #expect(verifier.chainVerificationCount == 3)
        #expect(verifier.keptChainCount == 2)
    }

    // The verdict on a chain is kept, not that it was valid at some time.
    @Test func `is asked for its validity by each message`() async throws {
        let verifier = try AppStoreSample.verifier()
        let authority = try AppStoreSample.authority.get()
        let rows: [(String, SignalRefusal.Code?)] = [
            ("2026-01-01", nil), ("2024-12-31", .expiredCertificate), ("2025-01-01", nil),
            ("2030-01-03", .expiredCertificate), ("2030-01-02", nil),
        ]
        for (day, code) in rows {
            let jws = try Self.transaction(authority, signed: day)
            let outcome = await verifier.transaction(jws, now: AppStoreSample.instant("2031-01-01"))
            #expect(outcome.refusal == code, "\(day)")
        }
        #expect(verifier.chainVerificationCount == 1)
    }

    @Test func `is kept only while there is room, the last used longest`() async throws {
        let verifier = try AppStoreSample.verifier { $0.chainCacheLimit = 2 }
        let authority = try AppStoreSample.authority.get()
        let others = try (0..<3).map { _ in
            try authority.renewed(validity: AppStoreSample.validity)
        }
        let first = try Self.transaction(authority)
        for other in others {
            #expect(
                await verifier.transaction(try Self.transaction(other), now: Self.now).refusal
                    == nil
            )
            #expect(await verifier.transaction(first, now: Self.now).refusal == nil)
            #expect(verifier.keptChainCount <= 2)
        }
        // The first was used in between, and so was verified only once.
        #expect(verifier.chainVerificationCount == 4)
        let none = try AppStoreSample.verifier { $0.chainCacheLimit = 0 }
        for _ in 0..<2 {
            #expect(await none.transaction(first, now: Self.now).refusal == nil)
        }
        #expect(none.chainVerificationCount == 2 && none.keptChainCount == 0)
    }

    // Anybody can send Apple's certificates with a header of one's own.
    @Test func `is kept only if its header was signed`() async throws {
        let verifier = try AppStoreSample.verifier()
        let authority = try AppStoreSample.authority.get()
        let good = try Self.transaction(authority)
        for number in 0..<5 {
            let form = SignedForm(
                chain: authority.certificates,
                more: [JSONMember("kid", .integer(number))]
            )
            var jws = try authority.sign(Array(BadMessage.payload().description.utf8), as: form)
            jws.replaceSubrange((jws.count - 86)..., with: good.suffix(86))
            #expect(await verifier.transaction(jws, now: Self.now).refusal == .badSignature)
        }
        #expect(verifier.keptChainCount == 0)
        #expect(await verifier.transaction(good, now: Self.now).refusal == nil)
        #expect(verifier.keptChainCount == 1)
    }

    @Test func `serves many callers at once`() async throws {
        let verifier = try AppStoreSample.verifier { $0.chainCacheLimit = 2 }
        let authority = try AppStoreSample.authority.get()
        let messages = try (0..<4).map { _ in
            try Self.transaction(authority.renewed(validity: AppStoreSample.validity))
        }
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    await verifier.transaction(messages[index % 4], now: Self.now).refusal == nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 64)
        #expect(verifier.keptChainCount == 2)
    }

    @Test func `of the simulator is trusted by no default configuration`() async throws {
        let jws = try AppStoreSample.store().transaction(start: AppStoreSample.start)
        let verifier = try AppStoreVerifier(AppStoreConfiguration(bundleIDs: ["com.example.app"]))
        #expect(await verifier.transaction(jws, now: Self.now).refusal == .untrustedRoot)
        let trusting = try AppStoreSample.verifier()
        #expect(await trusting.transaction(jws, now: Self.now).refusal == nil)
    }
}
