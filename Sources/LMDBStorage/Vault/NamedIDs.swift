import FoundationEssentials

/// Finds ids in bytes that may be of any form: JSON or not, escaped, in lower or upper case, and in
/// what base64 carries (the parts of a signed message are base64url of JSON that may carry others).
///
/// An id counts where it stands by itself, in a list of values or behind a `/`; a short one only as a
/// whole text of JSON or behind a `/`. Rather somebody else's line goes than that one stays.
struct NamedIDs {
    /// By their length, in lower case, so that each place is looked up and not compared with all.
    private let ids: [Int: Set<[UInt8]>]

    /// A notification carries a transaction, which carries nothing; each may be escaped.
    private static let depthLimit = 8
    /// Shorter texts carry nothing worth a look.
    private static let leastCount = 8
    /// Ids from this length on count wherever they stand by themselves.
    private static let longCount = 4

    init(_ ids: some Sequence<[UInt8]>) {
        let lower = Set(ids.map(Self.key)).filter { !$0.isEmpty }
        self.ids = Dictionary(grouping: lower, by: \.count).mapValues { Set($0) }
    }

    /// An id as it is looked for.
    static func key(_ id: [UInt8]) -> [UInt8] { id.map(lowercased) }

    /// The ids that are found, as `key` has them.
    ///
    /// Cost: linear in the bytes, for each length of an id and each layer of base64 or escapes.
    func found(in bytes: [UInt8]) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        var waiting = [(bytes: bytes, depth: Self.depthLimit)]
        while let (bytes, depth) = waiting.popLast() {
            found.formUnion(standing(in: bytes.map(Self.lowercased)))
            guard depth > 0 else { continue }
            let runs = bytes.split { !Self.isBase64($0) }.lazy
                .filter { $0.count >= Self.leastCount }.compactMap(Self.decoded)
            let inner =
                [Self.unescaped(bytes), Self.percentDecoded(bytes)].compactMap { $0 }
                // A sign of an escape that begins none stands for itself, in every layer.
                .filter { $0 != bytes } + runs
            waiting += inner.map { ($0, depth - 1) }
        }
        return found
    }

    /// Those that stand in the bytes as they are.
    private func standing(in bytes: [UInt8]) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for (count, ids) in ids where count <= bytes.count {
            for start in 0...(bytes.count - count) {
                let end = start + count
                guard isApart(start, bytes), isApart(end, bytes),
                    count >= Self.longCount || isWhole(start, end, bytes)
                else { continue }
                let id = Array(bytes[start..<end])
                if ids.contains(id) { found.insert(id) }
            }
        }
        return found
    }

    /// Whether a word ends or begins at a place.
    private func isApart(_ place: Int, _ bytes: [UInt8]) -> Bool {
        guard place > 0, place < bytes.count else { return true }
        return !Self.isWord(bytes[place - 1]) || !Self.isWord(bytes[place])
    }

    /// Whether a stretch is a text of JSON, or what follows a `/` in one.
    private func isWhole(_ start: Int, _ end: Int, _ bytes: [UInt8]) -> Bool {
        guard start > 0, end < bytes.count else { return start == 0 && end == bytes.count }
        let before = bytes[start - 1]
        return (before == UInt8(ascii: "\"") || before == UInt8(ascii: "/"))
            && bytes[end] == UInt8(ascii: "\"")
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF, UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        // Fits: a capital letter.
        (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    /// What a run of base64 stands for, if that is a text: of others nothing is known.
    private static func decoded(_ run: ArraySlice<UInt8>) -> [UInt8]? {
        var text = run.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        if text.count % 4 == 1 { text.removeLast() }
        text += Array(repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(text)), case let bytes = Array(data),
            String(validating: bytes, as: UTF8.self) != nil
        else { return nil }
        return bytes
    }

    /// The bytes without JSON's escapes; nil where there are none.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "\\")) else { return nil }
        var plain: [UInt8] = []
        var units: [UInt16] = []
        var place = 0
        while place < bytes.count {
            let isEscape = bytes[place] == UInt8(ascii: "\\") && place + 1 < bytes.count
            if isEscape, bytes[place + 1] == UInt8(ascii: "u"), place + 6 <= bytes.count,
                let unit = UInt16(
                    String(decoding: bytes[(place + 2)..<(place + 6)], as: UTF8.self),
                    radix: 16
                )
            {
                units.append(unit)
                place += 6
                continue
            }
            plain += String(decoding: units, as: UTF16.self).utf8
            units.removeAll()
            plain.append(bytes[isEscape ? place + 1 : place])
            place += isEscape ? 2 : 1
        }
        return plain + String(decoding: units, as: UTF16.self).utf8
    }

    /// The bytes without the escapes of URLs; nil where there are none.
    private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        var plain: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "%"), place + 3 <= bytes.count,
                let byte = UInt8(
                    String(decoding: bytes[(place + 1)..<(place + 3)], as: UTF8.self),
                    radix: 16
                )
            {
                plain.append(byte)
                place += 3
            } else {
                plain.append(bytes[place])
                place += 1
            }
        }
        return plain
    }
}
