import EventLog
import Foundation
import Testing

@Suite struct ByteCodingTests {
    @Test func `what is written is read back`() throws {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(UInt16(0x0203))
        writer.append(UInt32(0x0405_0607))
        writer.append(UInt64(0x0809_0A0B_0C0D_0E0F))
        writer.append(Int64(-2))
        writer.append("schön")
        writer.append([9, 8, 7].span)
        #expect(writer.bytes.prefix(7) == [1, 3, 2, 7, 6, 5, 4])
        let bytes = writer.bytes.span
        var cursor = ByteCursor()
        #expect(try cursor.uint8(bytes) == 1)
        #expect(try cursor.uint16(bytes) == 0x0203)
        #expect(try cursor.uint32(bytes) == 0x0405_0607)
        #expect(try cursor.uint64(bytes) == 0x0809_0A0B_0C0D_0E0F)
        #expect(try cursor.int64(bytes) == -2)
        #expect(try cursor.string(bytes) == "schön")
        let rest = try cursor.bytes(bytes, count: 3)
        #expect(Array(writer.bytes[rest]) == [9, 8, 7])
        try cursor.finish(bytes)
    }

    @Test func `bytes that end early are a fault at their place, never a trap`() throws {
        var cursor = ByteCursor(position: 1)
        #expect(throws: DecodingFault(what: "2 bytes do not follow", offset: 1)) {
            try cursor.uint16([0, 0].span)
        }
        #expect(throws: DecodingFault.self) {
            try cursor.uint64([UInt8](repeating: 0, count: 8).span)
        }
        #expect(throws: DecodingFault.self) { try cursor.bytes([0, 0].span, count: -1) }
        #expect(throws: DecodingFault.self) { try cursor.bytes([0, 0].span, count: .max) }
        #expect(throws: DecodingFault.self) { try cursor.finish([0, 0].span) }
        #expect(cursor.position == 1)
        cursor.position = 9
        #expect(throws: DecodingFault.self) { try cursor.uint8([0, 0].span) }
    }

    @Test(arguments: [[1, 0, 0xFF], [2, 0, 0x61], [3, 0, 0xED, 0xA0, 0x80], [9]] as [[UInt8]])
    func `text that is not whole UTF-8 is a fault`(bytes: [UInt8]) {
        var cursor = ByteCursor()
        #expect(throws: DecodingFault.self) { try cursor.string(bytes.span) }
        #expect(cursor.position == 0)
    }

    @Test func `a digest reads what it writes and nothing else`() throws {
        let bytes = (0..<32).map { UInt8($0) }
        let digest = Digest(bytes.span)
        #expect(digest.bytes == bytes)
        #expect(digest.hex.hasPrefix("000102030405"))
        #expect(Digest(hex: digest.hex) == digest)
        #expect(Digest(base64: digest.base64) == digest)
        #expect(Digest(hex: digest.hex + "00") == nil)
        #expect(Digest(hex: "0") == nil)
        #expect(Digest(base64: "AAAA") == nil)
        let short = Array(bytes.dropLast())
        let none = Digest(exactly: short.span)
        #expect(none == nil)
        for bit in 0..<256 { #expect(digest.flipping(bit: bit) != digest) }
    }
}

/// Records that stand one behind the other.
struct `A list of records` {
    private let records: [[UInt8]] = (0..<9).map { [UInt8](repeating: UInt8($0), count: $0 * 97) }

    @Test func `holds what was added, in order`() {
        var list = RecordList(records)
        #expect(Array(list) == records)
        list.removeLast(2)
        list.append([7])
        list.append(RecordList(records), 3..<6)
        #expect(Array(list) == records[..<7] + [[7]] + records[3..<6])
        list.removeLast(list.count)
        #expect(list.isEmpty)
    }

    @Test func `gives the bundle of any of them`() throws {
        let list = RecordList(records)
        for first in 0...records.count {
            for end in first...records.count {
                let value = list.packed(first..<end)
                #expect(try Bundle.count(value.span) == end - first)
                for index in first..<end {
                    let (place, count) = (index - first, end - first)
                    let range = try Bundle.range(of: place, count: count, in: value.span)
                    #expect(value.span.copy(range) == records[index])
                }
                // Each behind its length, big-endian, as tlog-tiles has it.
                let published = try value.span.copy(Bundle.published(value.span))
                let expected = records[first..<end].flatMap {
                    [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0
                }
                #expect(published == expected)
            }
        }
    }
}
