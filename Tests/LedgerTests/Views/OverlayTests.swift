import EventLog
import PostingIndex
import Testing

@testable import EntitlementLedger

/// What the log holds beyond the tables, in memory, while copies of it are kept.
struct `An overlay of which copies are kept` {
    private static func entry(_ sequence: UInt64, stream: UInt64) -> IndexEntry {
        IndexEntry(
            sequence: sequence,
            signal: SignalDigest(high: sequence, low: 7),
            kind: 1,
            stream: stream,
            others: []
        )
    }

    @Test func `answers as one of which none is kept`() {
        var (kept, plain) = (Overlay(from: 0), Overlay(from: 0))
        var copies: [Overlay] = []
        for sequence in 0..<UInt64(40) {
            if sequence.isMultiple(of: 3) { copies.append(kept.shared()) }
            let entry = Self.entry(sequence, stream: sequence % 5)
            kept.add([entry])
            plain.add([entry])
        }
        #expect(copies.map(\.end) == (0..<UInt64(14)).map { $0 * 3 })
        for round in 0..<2 {
            #expect(kept.end == plain.end && kept.count == plain.count)
            for stream in 0..<UInt64(6) {
                #expect(
                    kept.entries(of: stream).map(\.sequence)
                        == plain.entries(of: stream).map(\.sequence)
                )
                #expect(kept.lastSequence(of: stream) == plain.lastSequence(of: stream))
            }
            for sequence in 0..<UInt64(41) {
                let signal = SignalDigest(high: sequence, low: 7)
                #expect(kept.sequence(of: signal) == plain.sequence(of: signal))
            }
            // Once more when a part has gone into the tables.
            if round == 0 {
                kept.drop(below: 10)
                plain.drop(below: 10)
            }
        }
        #expect(copies[5].entries(of: 0).map(\.sequence) == [0, 5, 10], "a copy stays as it was")
    }

    @Test func `moves all of its parts, in their order`() {
        var overlay = Overlay(from: 0)
        for sequence in 0..<UInt64(6) {
            _ = overlay.shared()
            overlay.add([Self.entry(sequence, stream: 1)])
        }
        let moving = overlay.beginMoving()
        #expect(moving.end == 6 && moving.postings.count == 6)
        #expect(moving.postings.flatMap(\.streams).map(\.sequence) == Array(0..<UInt64(6)))
        overlay.add([Self.entry(6, stream: 1)])
        overlay.drop(below: moving.end)
        #expect(overlay.count == 1 && overlay.entries(of: 1).map(\.sequence) == [6])
    }
}
