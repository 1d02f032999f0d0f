import Encodings
import Entitlements
import EventLog
import ModelSupport
import Testing

@testable import EntitlementLedger

@Suite("Slots of the access table") struct AccessSlotTests {
    /// A slot with numbers of all sizes.
    private static func slot(_ random: inout SplitMix64) -> AccessSlot {
        func number(_ bits: Int) -> UInt64 {
            UInt64.random(in: 0..<(1 << UInt64(bits)), using: &random)
                >> UInt64.random(in: 0..<UInt64(bits), using: &random)
        }
        func instant() -> Instant { Instant(milliseconds: Int64(number(48))) }
        var slot = AccessSlot(size: number(48), from: instant())
        slot.streamCount = Int.random(in: 0...AccessSlot.streamCapacity, using: &random)
        for index in 0..<slot.streamCount { slot.streams[index] = number(48) }
        slot.stretchCount = Int.random(in: 0...AccessSlot.stretchCapacity, using: &random)
        for index in 0..<slot.stretchCount {
            slot.stretches[index] = AccessSlot.Stretch(
                product: UInt32(number(32)),
                isKept: Bool.random(using: &random),
                start: instant(),
                end: instant(),
                keptSince: instant()
            )
        }
        return slot
    }

    private static func isSame(_ left: AccessSlot, _ right: AccessSlot) -> Bool {
        left.size == right.size && left.from == right.from && left.streamList == right.streamList
            && left.stretchCount == right.stretchCount
            && (0..<left.stretchCount).allSatisfy { left.stretches[$0] == right.stretches[$0] }
    }

    @Test func `come back as they were packed`() {
        var random = SplitMix64(seed: 1)
        for number in 0..<2000 {
            let slot = Self.slot(&random)
            #expect(slot.isEncodable)
            #expect(Self.isSame(AccessSlot(slot.packed), slot), "slot \(number)")
        }
    }

    // What does not fit into 48 bits is not kept: the fold answers.
    @Test func `that do not fit are told`() {
        var slot = AccessSlot(size: 1, from: Instant(milliseconds: 0))
        slot.stretchCount = 1
        slot.stretches[0].start = Instant(milliseconds: -1)
        #expect(!slot.isEncodable)
        slot.stretches[0].start = Instant(milliseconds: 1 << 48)
        #expect(!slot.isEncodable)
        slot.stretches[0].start = AccessSlot.never
        #expect(slot.isEncodable)
    }

    @Test func `are found while the table grows`() {
        let table = AccessTable(using: .system)
        for number in 0..<20_000 { keep(number, in: table) }
        #expect((0..<20_000).allSatisfy { isKept($0, in: table) })
        #expect(table.slot(of: table.name("c20000", .production)) == nil)
        #expect(table.slot(of: table.name("c1", .sandbox)) == nil, "a world of its own")
        table.forget()
        #expect(!(0..<20_000).contains { isKept($0, in: table) })
    }

    @Test func `are forgotten together when the largest table is full`() {
        let limit = AccessTable.leastSlots
        let table = AccessTable(using: .system, slotLimit: limit)
        let count = limit / 4 * 3
        for number in 0..<count { keep(number, in: table) }
        #expect((0..<count).allSatisfy { isKept($0, in: table) })
        keep(count, in: table)
        #expect((0...count).filter { isKept($0, in: table) } == [count])
    }

    private func keep(_ number: Int, in table: AccessTable) {
        let slot = AccessSlot(size: UInt64(number), from: Instant(milliseconds: 0))
        table.keep(slot, of: table.name("c\(number)", .production))
    }

    private func isKept(_ number: Int, in table: AccessTable) -> Bool {
        table.slot(of: table.name("c\(number)", .production))?.size == UInt64(number)
    }
}
