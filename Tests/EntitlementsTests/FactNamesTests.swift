import Entitlements
import Testing

/// Ids of the catalog as numbers.
struct `The names of facts` {
    @Test func `are one number for one text, however many there are`() {
        var table = FactNameTable()
        let texts = (0..<1000).map { String(repeating: "é", count: $0 % 7) + "id-\($0)" } + [""]
        let names = texts.map { table.name($0) }
        #expect(Set(names).count == texts.count)
        for (text, name) in zip(texts, names) {
            #expect(table.names[name] == text)
            #expect(table.name(text) == name)
        }
    }

    // Row 9.4: what Unicode holds to be equivalent are two ids.
    @Test func `tell texts apart by their bytes`() {
        var table = FactNameTable()
        let (one, two) = (table.name("caf\u{E9}"), table.name("cafe\u{301}"))
        #expect(one != two)
        #expect(Array(table.names[two].utf8) == Array("cafe\u{301}".utf8))
    }

    @Test func `are no bytes that are not UTF-8`() {
        var table = FactNameTable()
        let bytes: [UInt8] = [0x61, 0xFF]
        #expect(table.name(utf8: bytes.span) == nil)
        #expect(table.name(utf8: [0x61].span) == table.name("a"))
    }
}
