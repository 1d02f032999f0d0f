import Encodings
import EventLog
import Foundation
import Testing

@testable import LMDBStorage
@testable import Salvage

/// Pages that may hold anything are read without an end of the process.
struct `Raw pages` {
    /// A file of random pages, some of which look like pages of LMDB that lead anywhere.
    private static func pages(
        _ count: Int,
        using random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for number in 0..<count {
            var page = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }
            func put(_ value: UInt64, _ count: Int, at place: Int) {
                for byte in 0..<count {
                    page[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
                }
            }
            // Its own number, or that of another page: circles come of it.
            put(UInt64.random(in: 0...UInt64(count), using: &random), 8, at: 0)
            if Bool.random(using: &random) { put(UInt64(number), 8, at: 0) }
            put([1, 2, 4, 8].randomElement(using: &random) ?? 2, 2, at: 10)
            put(UInt64.random(in: 0...4200, using: &random), 2, at: 12)
            put(UInt64.random(in: 0...4200, using: &random), 2, at: 14)
            if number < 2 {
                put(0xBEEF_C0DE, 4, at: 16)
                put(1, 4, at: 20)
                put(4096, 4, at: 40)
                put(UInt64.random(in: 0...UInt64(count), using: &random), 8, at: 128)
            }
            for magic in ["ELR1", "ELE1", "ELA1", "ELS1"] {
                let place = Int.random(in: 16..<4080, using: &random)
                page.replaceSubrange(place..<place + 4, with: Array(magic.utf8))
                put(UInt64.random(in: 0...UInt64(UInt32.max), using: &random), 4, at: place + 4)
            }
            bytes += page
        }
        return bytes
    }

    @Test func `never end their reader, wherever they lead`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var bytes = Self.pages(Int.random(in: 0...12, using: &random), using: &random)
            bytes.removeLast(Int.random(in: 0...min(bytes.count, 4096), using: &random))
            let log = try DamagedLog(bytes) { _, _ in }
            #expect(log.found.runs.isEmpty, "no record has a checksum by chance")
            let end = try SalvagedEnd(
                of: log,
                copies: [],
                closedSize: .max,
                signed: [],
                earlier: nil
            )
            #expect(end.size < 1 << 41)
        }
    }

    // The negative control: what is whole is found among them
    @Test func `hold a whole record, wherever it stands`() throws {
        var random = SystemRandomNumberGenerator()
        let record = LostRecordSample.record(sequence: 77)
        for place in [0, 1, 4095, 4096, 8000, PageSweep.stretch - 20] {
            var bytes = Array(repeating: UInt8(0x45), count: PageSweep.stretch + 9000)
            bytes.replaceSubrange(place..<place + record.count, with: record)
            let log = try DamagedLog(bytes) { _, _ in }
            #expect(log.found.runs.map(\.first) == [77])
            #expect(log.found.runs.map(\.offset) == [UInt64(place)])
            let changed = place + Int.random(in: record.indices, using: &random)
            bytes[changed] ^= 1
            let damaged = try DamagedLog(bytes) { _, _ in }
            #expect(damaged.found.runs.isEmpty, "byte \(changed - place)")
        }
    }
}

/// The shortest record of the format (schemas/log-format.md).
private enum LostRecordSample {
    static func record(sequence: UInt8) -> [UInt8] {
        var bytes = Array("ELR1".utf8) + [76, 0, 0, 0, sequence] + Array(repeating: 0, count: 63)
        bytes[48] = 37
        let crc = CRC32C.checksum(bytes.span)
        return bytes + (0..<4).map { UInt8(truncatingIfNeeded: crc >> (8 * $0)) }
    }
}
