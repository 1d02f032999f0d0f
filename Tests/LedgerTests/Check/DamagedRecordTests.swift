import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import ModelSupport
import Testing

/// Records whose bytes are not what was written.
struct `A question that meets a damaged record` {
    // Z17: whichever bit it is, in whichever record that the answer is made from.
    @Test func `is answered by a fault, never wrongly`() async throws {
        try await withScratchDirectory { folder in
            let log = FlippedLog()
            let ledger = try Self.ledger(log, viewsPath: folder + "/views")
            let question = CustomerQuestion(
                customer: "ann",
                environment: .production,
                point: BitemporalPoint(at: Sample.day(3), knownAt: .everything)
            )
            let size = try ledger.questions.size()
            let sound = try ledger.questions.show(question).json
            #expect(sound.description.contains(#""status":"active""#))
            var flips = 0
            for sequence in 0..<size {
                var count = 0
                try log.readRecords([sequence]) { count = $1.count }
                for byte in 0..<count {
                    log.place = FlippedLog.Place(sequence: sequence, byte: byte)
                    flips += 1
                    #expect(throws: (any Error).self, "record \(sequence), byte \(byte)") {
                        _ = try ledger.questions.show(question).json
                    }
                    #expect(throws: (any Error).self, "record \(sequence), byte \(byte)") {
                        _ = try ledger.questions.foldCustomers(
                            upTo: size,
                            environment: .production,
                            into: 0
                        ) { customers, _ in customers += 1 }
                    }
                }
            }
            #expect(flips > 300, "there were bits to flip")
            // The control: the same questions, once the bit is what it was.
            log.place = nil
            #expect(try ledger.questions.show(question).json == sound)
            let counts = try ledger.questions.foldCustomers(
                upTo: size,
                environment: .production,
                into: 0
            ) { customers, _ in customers += 1 }
            #expect(counts.reduce(0, +) == 1)
            try ledger.close()
        }
    }

    /// Ann owns a verified purchase.
    private static func ledger(_ log: FlippedLog, viewsPath: String) throws -> Ledger {
        let clock = TestClock()
        let ledger = try Ledger(
            identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "ledger.test/log"),
            log: log,
            vault: MemoryVault(randomness: .system),
            options: Ledger.Options(
                viewsPath: viewsPath,
                bootID: "boot",
                isReadOnly: false,
                clock: { clock.now }
            )
        )
        _ = try ledger.appender.record(
            Sample.submissions([
                Sample.line(
                    "buy",
                    "purchase.completed",
                    "purchase/app_store/1",
                    data: #"{"transactionId":"t","productId":"p","productKind":"non_consumable"}"#,
                    time: Sample.day(2)
                ),
                Sample.line(
                    "ok",
                    "verification.passed",
                    "purchase/app_store/1",
                    data: #"{"method":"manual"}"#
                ),
                Sample.line(
                    "claim",
                    "customer.claimed",
                    "customer/ann",
                    data: #"{"purchase":"app_store/1"}"#
                ),
            ])
        )
        return ledger
    }
}
