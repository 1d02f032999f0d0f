import LMDB
import Synchronization
import Testing

@Suite struct FlatTableTests {
    // Row 4.3: a table that is copied into a larger one keeps what it holds.
    @Test(arguments: [false, true])
    func `a hundred thousand keys are found with their payloads`(isDoubled: Bool) {
        var table = FlatTable(slots: 140_000)
        #expect(table.capacity == 262_144)
        for number in UInt64(0)..<100_000 {
            #expect(table.write(digest(number), number, payload(number)))
        }
        if isDoubled {
            table = table.doubled()
            #expect(table.capacity == 524_288)
        }
        #expect(table.count == 100_000)
        for number in UInt64(0)..<100_000 {
            guard table.payload(digest(number), number).map({ isPayload($0, number) }) == true
            else {
                Issue.record("key \(number) is lost")
                return
            }
            guard table.payload(digest(number), number + 1) == nil else {
                Issue.record("key \(number) is found by half")
                return
            }
        }
    }

    @Test func `keys that share a home are told apart`() {
        let table = FlatTable(slots: 64)
        for low in UInt64(0)..<20 { #expect(table.write(.max, low, payload(low))) }
        for low in UInt64(0)..<20 {
            #expect(table.payload(.max, low).map { isPayload($0, low) } == true)
        }
        #expect(table.payload(.max, 20) == nil)
    }

    @Test func `writing a key again replaces its payload`() {
        let table = FlatTable(slots: 8)
        #expect(table.write(1, 2, payload(1)))
        #expect(table.write(1, 2, payload(2)))
        #expect(table.count == 1)
        #expect(table.payload(1, 2).map { isPayload($0, 2) } == true)
    }

    @Test func `a table is full at three quarters and still replaces`() {
        let table = FlatTable(slots: 64)
        for number in UInt64(0)..<48 {
            #expect(table.write(digest(number), number, payload(number)))
        }
        #expect(!table.write(digest(48), 48, payload(48)))
        #expect(table.payload(digest(48), 48) == nil)
        #expect(table.write(digest(7), 7, payload(70)))
        #expect(table.payload(digest(7), 7).map { isPayload($0, 70) } == true)
    }

    /// The writer turns between four keys: on one key alone it could starve the reader, which then
    /// rightly gives up.
    @Test func `a reader never sees a torn payload`() async {
        let table = FlatTable(slots: 8)
        for key in UInt64(0)..<4 { #expect(table.write(key << 61, 2, payload(0))) }
        let writer = Progress()
        let looks = await withTaskGroup(of: Looks.self) { group in
            group.addTask {
                var looks = Looks()
                while !writer.isDone.load(ordering: .relaxed) || looks.wholeCount == 0 {
                    switch table.payload(0, 2).map({ isPayload($0, $0[0]) }) {
                    case true?: looks.wholeCount += 1
                    case false?: looks.tornCount += 1
                    case nil: looks.refusedCount += 1
                    }
                }
                return looks
            }
            group.addTask {
                var isWritten = true
                for number in UInt64(1)...200_000 {
                    isWritten =
                        table.write((number & 3) << 61, 2, payload(number)) && isWritten
                }
                #expect(isWritten, "the keys have their slots")
                writer.isDone.store(true, ordering: .relaxed)
                return Looks()
            }
            return await group.first { $0.wholeCount > 0 } ?? Looks()
        }
        #expect(looks.wholeCount > 0)
        #expect(looks.tornCount == 0)
        // A reader gives up a slot in which the writer lost its processor: rare.
        #expect(looks.refusedCount * 100 <= looks.wholeCount)
    }
}

/// What a concurrent reader saw.
private struct Looks {
    var wholeCount = 0
    var tornCount = 0
    var refusedCount = 0
}

/// How far a concurrent writer is.
private final class Progress: Sendable {
    let isDone = Atomic(false)
}

/// Spreads numbers as a digest would (splitmix64).
private func digest(_ number: UInt64) -> UInt64 {
    var value = number &+ 0x9e37_79b9_7f4a_7c15
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
}

/// `number` again and again.
private func payload(_ number: UInt64) -> FlatTable.Payload { FlatTable.Payload(repeating: number) }

private func isPayload(_ payload: FlatTable.Payload, _ number: UInt64) -> Bool {
    payload.indices.allSatisfy { payload[$0] == number }
}
