import LMDB
import Synchronization
import Testing

@Suite struct MappedTableTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let identity = MappedTable.Identity(
        ledgerID: (0..<16).map { UInt8($0) },
        treeSize: 42,
        root: (100..<132).map { UInt8($0) }
    )

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("access")
    }

    private func make(slots: Int = 64, payloadBytes: Int = 104) throws -> MappedTable {
        try MappedTable.create(
            path: path,
            slots: slots,
            payloadBytes: payloadBytes,
            identity: identity
        )
    }

    @Test func `a hundred thousand keys are found with their payloads`() throws {
        let table = try make(slots: 140_000)
        #expect(table.capacity == 262_144)
        for number in UInt64(0)..<100_000 {
            try table.write(digest(number), number, payload(number, 104).span)
        }
        #expect(table.count == 100_000)
        try table.seal(identity: identity)
        let opened = try #require(try MappedTable.open(path: path, isWritable: false))
        #expect(opened.identity == identity)
        #expect(opened.count == 100_000)
        #expect(opened.payloadBytes == 104)
        for number in UInt64(0)..<100_000 {
            let isEqual = opened.read(digest(number), number) { isPayload($0, number) }
            guard isEqual == true else {
                Issue.record("key \(number) is lost")
                return
            }
            guard opened.read(digest(number), number + 1, { _ in }) == nil else {
                Issue.record("key \(number) is found by half")
                return
            }
        }
        #expect(throws: MappedTableError.readOnly) {
            try opened.write(1, 1, payload(1, 104).span)
        }
    }

    @Test(arguments: [1, 7, 8, 9, 104, 255, 256])
    func `a payload of any size comes back whole`(size: Int) throws {
        let table = try make(payloadBytes: size)
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
        try table.write(1, 2, bytes.span)
        #expect(table.read(1, 2) { copy($0) } == bytes)
    }

    @Test func `keys that share a home are told apart`() throws {
        let table = try make()
        for low in UInt64(0)..<20 { try table.write(.max, low, payload(low, 104).span) }
        for low in UInt64(0)..<20 {
            #expect(table.read(.max, low) { isPayload($0, low) } == true)
        }
        #expect(table.read(.max, 20) { _ in } == nil)
    }

    @Test func `writing a key again replaces its payload`() throws {
        let table = try make()
        try table.write(1, 2, payload(1, 104).span)
        try table.write(1, 2, payload(2, 104).span)
        #expect(table.count == 1)
        #expect(table.read(1, 2) { isPayload($0, 2) } == true)
    }

    @Test func `a table is full at three quarters and still replaces`() throws {
        let table = try make(slots: 64)
        for number in UInt64(0)..<48 {
            try table.write(digest(number), number, payload(number, 104).span)
        }
        #expect(throws: MappedTableError.full) {
            try table.write(digest(48), 48, payload(48, 104).span)
        }
        try table.write(digest(7), 7, payload(70, 104).span)
        #expect(table.read(digest(7), 7) { isPayload($0, 70) } == true)
    }

    @Test func `a dirty table is refused until it is sealed`() throws {
        let table = try make()
        try table.write(1, 2, payload(1, 104).span)
        #expect(try MappedTable.open(path: path, isWritable: false) == nil)
        try table.seal(identity: identity)
        let sealed = try #require(try MappedTable.open(path: path, isWritable: true))
        #expect(sealed.isClean)
        try sealed.write(1, 3, payload(1, 104).span)
        #expect(!sealed.isClean)
        #expect(try MappedTable.open(path: path, isWritable: false) == nil)
        var later = identity
        later.treeSize = 43
        try sealed.seal(identity: later)
        #expect(try MappedTable.open(path: path, isWritable: false)?.identity == later)
        try sealed.markDirty()
        #expect(try MappedTable.open(path: path, isWritable: false) == nil)
    }

    @Test func `a missing, short or foreign file is no table`() throws {
        #expect(try MappedTable.open(path: path, isWritable: false) == nil)
        try write([], to: path)
        #expect(try MappedTable.open(path: path, isWritable: false) == nil)
        try write([UInt8](repeating: 0x5a, count: 20_000), to: path)
        #expect(try MappedTable.open(path: path, isWritable: false) == nil)
    }

    @Test func `each flipped header byte is refused`() throws {
        let table = try make()
        try table.write(1, 2, payload(1, 104).span)
        try table.seal(identity: identity)
        for offset in 0..<104 {
            try flip(path, at: offset)
            #expect(
                try MappedTable.open(path: path, isWritable: false) == nil,
                "byte \(offset)"
            )
            try flip(path, at: offset)
        }
        #expect(try MappedTable.open(path: path, isWritable: false) != nil)
    }

    @Test func `each flipped byte of a slot's key, checksum or payload is refused`() throws {
        let table = try make()
        try table.write(1, 2, payload(1, 104).span)
        try table.seal(identity: identity)
        let opened = try #require(try MappedTable.open(path: path, isWritable: false))
        // Key (1, 2) stands in slot 0; bytes 16 to 19 are its sequence, which only counts writes.
        for offset in Array(0..<16) + Array(20..<128) {
            try flip(path, at: 4096 + offset)
            #expect(opened.read(1, 2) { _ in } == nil, "byte \(offset)")
            try flip(path, at: 4096 + offset)
        }
        #expect(opened.read(1, 2) { isPayload($0, 1) } == true)
    }

    /// The writer turns between four keys: on one key alone it could starve the reader, which then
    /// rightly gives up.
    @Test func `a reader never sees a torn payload`() async throws {
        let table = try make(slots: 8)
        for key in UInt64(0)..<4 { try table.write(key << 61, 2, payload(0, 104).span) }
        try table.seal(identity: identity)
        let reader = try #require(try MappedTable.open(path: path, isWritable: false))
        let writer = Progress()
        let looks = await withTaskGroup(of: Looks.self) { group in
            group.addTask {
                var looks = Looks()
                while !writer.isDone.load(ordering: .relaxed) || looks.wholeCount == 0 {
                    switch reader.read(0, 2, { isPayload($0, $0.loadUInt64(at: 0)) }) {
                    case true?: looks.wholeCount += 1
                    case false?: looks.tornCount += 1
                    case nil: looks.refusedCount += 1
                    }
                }
                return looks
            }
            group.addTask {
                for number in UInt64(1)...200_000 {
                    #expect(throws: Never.self) {
                        try table.write((number & 3) << 61, 2, payload(number, 104).span)
                    }
                }
                writer.isDone.store(true, ordering: .relaxed)
                return Looks()
            }
            return await group.first { $0.wholeCount > 0 } ?? Looks()
        }
        #expect(looks.wholeCount > 0)
        #expect(looks.tornCount == 0)
        // A reader gives up a slot in which the writer lost its processor: rare, while a checksum
        // that the protocol let go wrong would not be.
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
private func payload(_ number: UInt64, _ size: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    var span = bytes.mutableSpan
    for offset in stride(from: 0, to: size, by: 8) { span.storeUInt64(number, at: offset) }
    return bytes
}

private func isPayload(_ span: Span<UInt8>, _ number: UInt64) -> Bool {
    for offset in stride(from: 0, to: span.count, by: 8)
    where span.loadUInt64(at: offset) != number {
        return false
    }
    return true
}
