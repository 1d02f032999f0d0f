import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Synchronization
import Testing

/// E1: a catalog that is published again while the first one is on its way.
struct `A catalog that is published twice at once` {
    /// A clock that goes on with each look, and lets somebody else go first at the next one.
    private final class InterruptedClock: Sendable {
        private let milliseconds = Atomic<Int64>(Sample.newYear.milliseconds)
        private let interruption = Mutex<(@Sendable () -> Void)?>(nil)

        func interrupt(by body: @escaping @Sendable () -> Void) {
            interruption.withLock { $0 = body }
        }

        func now() -> Instant {
            let body = interruption.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
            let now = milliseconds.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
            return Instant(milliseconds: now)
        }
    }

    // E1, K1: without a time it has its first one.
    @Test func `has its first outcome, whoever's time was taken first`() async throws {
        try await withScratchDirectory { folder in
            let clock = InterruptedClock()
            let ledger = try Ledger(
                identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "x/log"),
                log: MemoryLog(),
                vault: MemoryVault(randomness: .system),
                options: Ledger.Options(
                    viewsPath: folder,
                    bootID: "test",
                    isReadOnly: false,
                    clock: { clock.now() }
                )
            )
            let catalog = try Sample.catalog()
            let publish: @Sendable () throws -> Receipt = {
                try ledger.appender.publish(
                    catalog,
                    effective: nil,
                    Request(id: "c1", source: Source.catalog, environment: .production)
                )
            }
            let first = Mutex<Receipt?>(nil)
            clock.interrupt {
                // What fails here is missing below.
                let receipt = try? publish()
                first.withLock { $0 = receipt }
            }
            let second = try publish()
            let outcome = first.withLock { $0 }
            #expect(outcome == .appended(first: 0, count: 1))
            #expect(second == .duplicate(of: 0))
            #expect(try ledger.questions.size() == 1)
            // The control: another time that is named is other content.
            let named = try ledger.appender.publish(
                catalog,
                effective: Sample.day(2),
                Request(id: "c1", source: Source.catalog, environment: .production)
            )
            guard case .refused(let refusal) = named else {
                Issue.record("\(named)")
                return
            }
            #expect(refusal.code == .conflict)
        }
    }
}
