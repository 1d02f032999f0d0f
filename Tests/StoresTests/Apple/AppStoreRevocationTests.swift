import Entitlements
import StoreSimulator
import Stores
import Synchronization
import Testing

struct `A chain whose revocation is asked about` {
    static let now = AppStoreSample.now
    static let interval = AppStoreRevocationCheck.defaultIntervalMilliseconds

    /// An authority whose leaf names a responder.
    private static func authority() throws -> SigningAuthority {
        var defects = SigningAuthority.Defects()
        defects.responder = "http://ocsp.example"
        return try AppStoreSample.authority.get()
            .renewed(validity: AppStoreSample.validity, defects: defects)
    }

    /// How often a responder was asked.
    private final class Asked: Sendable {
        let count = Atomic(0)
    }

    private static func verifier(
        timeoutMilliseconds: Int64 = 3_000,
        _ asked: Asked = Asked(),
        clock: @escaping @Sendable () -> Instant = { now },
        _ answer: @escaping @Sendable ([UInt8]) async -> [UInt8]?
    ) throws -> AppStoreVerifier {
        try AppStoreSample.verifier {
            $0.revocation = AppStoreRevocationCheck(
                timeoutMilliseconds: timeoutMilliseconds,
                clock: clock
            ) { request, responder in
                asked.count.add(1, ordering: .relaxed)
                return responder == "http://ocsp.example" ? await answer(request) : nil
            }
        }
    }

    @Test(arguments: [
        (OCSPAnswer.Status.good, nil), (.revoked, SignalRefusal.Code.revokedCertificate),
    ])
    func `is refused if its authority says so`(
        _ status: OCSPAnswer.Status,
        _ code: SignalRefusal.Code?
    ) async throws {
        let authority = try Self.authority()
        let verifier = try Self.verifier { request in
            // A failure to answer would let it pass, which the other row would show.
            try? OCSPAnswer.bytes(to: request, status, by: authority)
        }
        let jws = try SimulatedAppStore(authority: authority)
            .transaction(start: AppStoreSample.start)
        #expect(await verifier.transaction(jws, now: Self.now).refusal == code)
        #expect(await verifier.transaction(jws, now: Self.now).refusal == code)
    }

    @Test func `is not refused on anybody else's word`() async throws {
        let authority = try Self.authority()
        let other = try SigningAuthority(validity: AppStoreSample.validity)
        let answers: [@Sendable ([UInt8]) async -> [UInt8]?] = [
            { _ in nil }, { _ in [] }, { _ in [0x30, 0x00] },
            { try? OCSPAnswer.bytes(to: $0, .revoked, by: other) },
            { try? OCSPAnswer.bytes(to: $0, .revoked, by: authority, day: "20270601") },
            { request in
                let answer = try? OCSPAnswer.bytes(to: request, .revoked, by: authority)
                let limit = AppStoreRevocationCheck.answerByteLimit
                return answer.map { $0 + [UInt8](repeating: 0, count: limit) }
            },
        ]
        let jws = try SimulatedAppStore(authority: authority)
            .transaction(start: AppStoreSample.start)
        for answer in answers {
            let asked = Asked()
            let verifier = try Self.verifier(asked, answer)
            #expect(await verifier.transaction(jws, now: Self.now).refusal == nil)
            #expect(asked.count.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `does not wait for a responder that is away`() async throws {
        let authority = try Self.authority()
        let cancelled = Asked()
        let verifier = try Self.verifier(timeoutMilliseconds: 10) { _ in
            // Until it is cancelled.
            try? await Task.sleep(for: .seconds(3600))
            if Task.isCancelled { cancelled.count.add(1, ordering: .relaxed) }
            return nil
        }
        let jws = try SimulatedAppStore(authority: authority)
            .transaction(start: AppStoreSample.start)
        #expect(await verifier.transaction(jws, now: Self.now).refusal == nil)
        #expect(cancelled.count.load(ordering: .relaxed) == 1, "it was given up")
    }

    @Test func `is asked about once in an interval, and stays revoked`() async throws {
        let authority = try Self.authority()
        let asked = Asked()
        let passed = Atomic<Int64>(0)
        let clock: @Sendable () -> Instant = {
            Self.now.advanced(byMilliseconds: passed.load(ordering: .relaxed))
        }
        let verifier = try Self.verifier(asked, clock: clock) { request in
            let status: OCSPAnswer.Status =
                asked.count.load(ordering: .relaxed) == 2 ? .revoked : .good
            return try? OCSPAnswer.bytes(to: request, status, by: authority)
        }
        let store = SimulatedAppStore(authority: authority)
        let rows: [(after: Int64, code: SignalRefusal.Code?, asked: Int)] = [
            (0, nil, 1), (1, nil, 1), (Self.interval - 1, nil, 1),
            (Self.interval, .revokedCertificate, 2), (Self.interval + 1, .revokedCertificate, 2),
            (3 * Self.interval, .revokedCertificate, 3),
        ]
        for row in rows {
            let jws = try store.transaction(start: AppStoreSample.start)
            passed.store(row.after, ordering: .relaxed)
            #expect(await verifier.transaction(jws, now: clock()).refusal == row.code)
            #expect(asked.count.load(ordering: .relaxed) == row.asked)
        }
    }

    // Stores, rule 5: what was recorded a year ago is judged by what its authority says today, asked once.
    @Test func `is refused by today's word, whenever its messages were recorded`() async throws {
        let authority = try Self.authority()
        let asked = Asked()
        let verifier = try Self.verifier(asked) { request in
            try? OCSPAnswer.bytes(to: request, .revoked, by: authority)
        }
        let store = SimulatedAppStore(authority: authority)
        for day in 0..<3 {
            let recorded = AppStoreSample.start.advanced(
                byMilliseconds: Int64(day) * Instant.millisecondsPerDay
            )
            let jws = try store.transaction(start: AppStoreSample.start)
            let refusal = await verifier.transaction(jws, now: recorded).refusal
            #expect(refusal == .revokedCertificate)
        }
        #expect(asked.count.load(ordering: .relaxed) == 1)
    }

    @Test func `is not asked about unless configured`() async throws {
        let authority = try Self.authority()
        let jws = try SimulatedAppStore(authority: authority)
            .transaction(start: AppStoreSample.start)
        let verifier = try AppStoreSample.verifier()
        #expect(await verifier.transaction(jws, now: Self.now).refusal == nil)
    }
}
