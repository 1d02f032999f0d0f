import Encodings

/// What a log says of itself at a size: the text that is signed (C2SP tlog-checkpoint).
package struct Checkpoint: Hashable, Sendable {
    /// Which log, such as `ledger.example/audit`; one line, not empty.
    package let origin: String
    /// How many leaves the tree has.
    package let size: UInt64
    /// The root of the tree at that size.
    package let root: Digest

    /// Makes a checkpoint.
    ///
    /// - Precondition: `origin` is not empty and has no control character.
    package init(origin: String, size: UInt64, root: Digest) {
        precondition(Self.isLine(origin.utf8), "an origin is one line")
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// Reads the text of a verified note; extension lines are passed over.
    ///
    /// - Throws: ``NoteFault`` `malformedCheckpoint` where there are fewer than three lines, an
    ///   empty one, a size with a leading zero or above 64 bits, or a root that is not 32 bytes.
    package init(parsing text: String) throws(NoteFault) {
        let bytes = Array(text.utf8)
        let lines = bytes.dropLast().split(separator: newline, omittingEmptySubsequences: false)
        guard bytes.last == newline, lines.count >= 3, lines.allSatisfy({ Self.isLine($0) }) else {
            throw NoteFault(.malformedCheckpoint, "a checkpoint has three lines or more")
        }
        guard let size = Self.size(in: lines[1]) else {
            throw NoteFault(.malformedCheckpoint, "the size is not a decimal number")
        }
        guard let hash = Base64.decode(lines[2]), let root = Digest(exactly: hash.span) else {
            throw NoteFault(.malformedCheckpoint, "the root is not 32 bytes of base64")
        }
        self.init(origin: String(decoding: lines[0], as: UTF8.self), size: size, root: root)
    }

    /// Reads a verified note.
    ///
    /// - Throws: as ``init(parsing:)``.
    package init(_ note: VerifiedNote) throws(NoteFault) {
        try self.init(parsing: note.text)
    }

    /// The text to sign: origin, size and root, a line each.
    package var text: String { "\(origin)\n\(size)\n\(root.base64)\n" }

    private static func isLine(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 }
    }

    private static func size(in line: ArraySlice<UInt8>) -> UInt64? {
        let isDecimal = line.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDecimal, line.count == 1 || line.first != UInt8(ascii: "0") else { return nil }
        return UInt64(String(decoding: line, as: UTF8.self))
    }
}

private let newline = UInt8(ascii: "\n")
