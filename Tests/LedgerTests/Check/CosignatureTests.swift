import Crypto
import Dispatch
import EntitlementLedger
import EventLog
import Foundation
import Testing

/// What witnesses sign is added to the checkpoint that they saw.
struct `What a witness signs` {
    @Test func `stays where another one signs at the same time`() async throws {
        try await withScratchDirectory { folder in
            let log = HeldLog()
            let ledger = try Ledger(over: log, viewsIn: folder)
            let prover = ledger.prover
            let text = try SignedNote.parse(prover.checkpoint()).text
            let witnesses = try ["one.example", "two.example"].map {
                try NoteSigner(name: $0, privateKey: .init())
            }
            let notes = try witnesses.map { try $0.sign(text).description }
            let keys = witnesses.map(\.verifierKey)
            let (second, otherEnds) = (DispatchGroup(), DispatchSemaphore(value: 0))
            log.beforeCheckpoint {
                second.enter()
                Thread.detachNewThread {
                    #expect(throws: Never.self) {
                        try prover.addCosignatures(notes[1], of: keys)
                    }
                    otherEnds.signal()
                    second.leave()
                }
                // Where nothing held it back it would be through long before, and be lost.
                _ = otherEnds.wait(timeout: .now() + .seconds(2))
            }
            try await withCheckedThrowingContinuation { continuation in
                // No thread that tests share waits.
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result { _ = try prover.addCosignatures(notes[0], of: keys) }
                    )
                }
            }
            await withCheckedContinuation { continuation in
                second.notify(queue: .global()) { continuation.resume() }
            }
            let kept = try SignedNote.parse(#require(try prover.checkpointNote()))
            #expect(try kept.verified(by: keys).keys == keys)
            try ledger.close()
        }
    }
}
