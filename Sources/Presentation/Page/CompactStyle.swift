/// A stylesheet as browsers get it: without what only its authors read.
enum CompactStyle {
    /// The same rules without comments, and without white space that says nothing.
    ///
    /// Texts in quotes stay as they are, and so does a space before a colon, which in a selector means "within",
    /// and those around signs, which a sum needs. Cost: one pass.
    static func sheet(_ sheet: some Sequence<UInt8>) -> [UInt8] {
        var compact: [UInt8] = []
        var rest = ArraySlice(Array(sheet))
        compact.reserveCapacity(rest.count)
        var isSpaced = false
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "/"), rest.first == UInt8(ascii: "*") {
                skipComment(&rest)
                isSpaced = true
            } else if spaces.contains(byte) {
                isSpaced = true
            } else {
                if isSpaced, let last = compact.last, !ends.contains(last), !marks.contains(byte) {
                    compact.append(UInt8(ascii: " "))
                }
                isSpaced = false
                // What ends a block ends its last declaration, too.
                if byte == UInt8(ascii: "}"), compact.last == UInt8(ascii: ";") {
                    compact.removeLast()
                }
                compact.append(byte)
                if quotes.contains(byte) { copyText(to: byte, &rest, into: &compact) }
            }
        }
        return compact
    }

    private static let spaces = Set(" \n\r\t".utf8)
    /// No white space is needed before these.
    private static let marks = Set("{};,".utf8)
    /// Nor behind these.
    private static let ends = Set("{};,:".utf8)
    private static let quotes = Set("\"'".utf8)

    private static func skipComment(_ rest: inout ArraySlice<UInt8>) {
        // The star that begins it does not end it.
        _ = rest.popFirst()
        var last = rest.popFirst()
        while let byte = rest.popFirst() {
            if last == UInt8(ascii: "*"), byte == UInt8(ascii: "/") { return }
            last = byte
        }
    }

    /// Copies a text in quotes up to its end.
    private static func copyText(
        to end: UInt8,
        _ rest: inout ArraySlice<UInt8>,
        into compact: inout [UInt8]
    ) {
        while let byte = rest.popFirst() {
            compact.append(byte)
            if byte == end { return }
            // What it escapes ends nothing.
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { compact.append(escaped) }
        }
    }
}
