import Foundation
import LMDBStorage
import Salvage
import Testing

/// What a damaged page says of a value's length is believed up to what such a value may have.
struct `A tile that is longer than tiles are` {
    @Test func `is none`() async throws {
        try await `A salvage`.filled { scratch in
            try scratch.close()
            let key = TileKey(level: 0, index: 0)
            let byteCount = 8192
            let whole = try LedgerCopy(at: scratch.path).tiles(key)
            #expect(whole.contains { $0.count == byteCount })
            // An entry of a leaf: the value's length, that it fills pages of its own, the key's length,
            // and the key.
            let rest: [UInt8] = [0, 0, 1, 0, 16, 0] + [UInt8](repeating: 0, count: 16)
            let entry = Data([0, 0x20]) + Data(rest)
            let longer = Data([0, 0x40]) + Data(rest)
            var changed = 0
            try `A salvage`.damage(scratch.path) { data in
                while let place = data.range(of: entry) {
                    data.replaceSubrange(place, with: longer)
                    changed += 1
                }
            }
            #expect(changed > 0)
            let read = try LedgerCopy(at: scratch.path).tiles(key)
            #expect(read.allSatisfy { $0.count <= byteCount })
        }
    }
}
