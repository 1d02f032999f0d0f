import Encodings
import LedgerAPI
import Presentation
import Testing

/// Tables as a terminal shows them.
struct `A table of text` {
    @Test func `has columns as wide as their longest cells, and no space at the ends of lines`() {
        #expect(
            TextTable.lines("things", [["a", "bb", ""], ["ccc", ""], ["é", "d", "e"]]) == [
                "things", "  a    bb", "  ccc", "  é    d   e",
            ]
        )
    }

    @Test func `sets numbers one below the other by their ends`() {
        let rows = [["row", "value", "unit"], ["append", "5", "a second"]]
        #expect(
            TextTable.lines(rows, numbers: [1]) == [
                "row     value  unit", "append      5  a second",
            ]
        )
    }

    @Test func `has no heading without rows`() {
        #expect(TextTable.lines("things", []) == [])
        #expect(TextTable.lines("things", [[]]) == ["things", ""])
    }

    @Test(
        arguments: [
            (nil, "-"), (.null, "-"), ("x", "x"), (.integer(7), "7"), (.bool(true), "yes"),
            (.bool(false), "no"), (.array([]), "-"), (.object([]), "-"),
        ] as [(JSONValue?, String)]
    )
    func `says a value in a cell`(_ value: JSONValue?, _ text: String) {
        #expect(CellText.text(value) == text)
    }
}
