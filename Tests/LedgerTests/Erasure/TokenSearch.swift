import Foundation

/// Finds who stands in some bytes, in whatever coding, by twelve digits that stand in each of their
/// ids.
struct TokenSearch {
    /// Who is looked for.
    let tokens: Set<String>

    static let digitCount = 12
    /// Signed messages within messages within a body, and one more.
    private static let depthLimit = 5

    /// Who is found.
    func found(in bytes: [UInt8]) -> Set<String> { found(in: bytes, depth: Self.depthLimit) }

    private func found(in bytes: [UInt8], depth: Int) -> Set<String> {
        var hits = runs(in: bytes, stride: 1) { Self.isDigit(bytes[$0]) ? bytes[$0] : nil }
        hits.formUnion(
            runs(in: bytes, stride: 2) { place in
                guard place + 1 < bytes.count, bytes[place + 1] == 0, Self.isDigit(bytes[place])
                else { return nil }
                return bytes[place]
            }
        )
        hits.formUnion(
            runs(in: bytes, stride: 2) { place in
                guard place + 1 < bytes.count, bytes[place] == UInt8(ascii: "3"),
                    Self.isDigit(bytes[place + 1])
                else { return nil }
                return bytes[place + 1]
            }
        )
        guard depth > 0 else { return hits }
        for inner in base64(in: bytes) { hits.formUnion(found(in: inner, depth: depth - 1)) }
        return hits
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The tokens in runs of digits, each of which takes `stride` bytes.
    private func runs(in bytes: [UInt8], stride: Int, _ digit: (Int) -> UInt8?) -> Set<String> {
        var hits: Set<String> = []
        for phase in 0..<stride {
            var run: [UInt8] = []
            for place in Swift.stride(from: phase, to: bytes.count, by: stride) {
                guard let digit = digit(place) else {
                    if !run.isEmpty { run.removeAll(keepingCapacity: true) }
                    continue
                }
                run.append(digit)
                guard run.count >= Self.digitCount else { continue }
                let text = String(decoding: run.suffix(Self.digitCount), as: UTF8.self)
                if tokens.contains(text) { hits.insert(text) }
            }
        }
        return hits
    }

    /// What runs of base64 digits stand for, wherever in its four digits a text begins.
    private func base64(in bytes: [UInt8]) -> [[UInt8]] {
        var contents: [[UInt8]] = []
        var run: [UInt8] = []
        func take() {
            // Shorter ones hold no token.
            if run.count >= Self.digitCount * 4 / 3 + 4 {
                for start in 0..<4 {
                    let text = run.dropFirst(start)
                    let whole = text.prefix(text.count / 4 * 4)
                    if let data = Data(base64Encoded: Data(whole)) { contents.append(Array(data)) }
                }
            }
            run.removeAll(keepingCapacity: true)
        }
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"):
                run.append(byte)
            case UInt8(ascii: "-"): run.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): run.append(UInt8(ascii: "/"))
            default: if !run.isEmpty { take() }
            }
        }
        take()
        return contents
    }
}
