/// A decimal number as written, so that money never passes through a binary fraction
/// (Stores, rule 8).
///
/// Invariant: the value is ±`digits` × 10^`exponent`, `digits` without leading zeros.
struct ExactDecimal: Hashable, Sendable {
    private let isNegative: Bool
    private let digits: [UInt8]
    private let exponent: Int

    /// An exponent beyond this, either way, is held here: it is zero or out of range anyway.
    private static let exponentLimit = 1_000_000

    /// Reads the text of a JSON number (RFC 8259, section 6), which is valid already.
    init(jsonNumber text: String) {
        var digits: [UInt8] = []
        var (isNegative, isExponentNegative) = (false, false)
        var (fractionDigits, exponent) = (0, 0)
        var part = Part.whole
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"):
                if part == .exponent { isExponentNegative = true } else { isNegative = true }
            case UInt8(ascii: "."): part = .fraction
            case UInt8(ascii: "e"), UInt8(ascii: "E"): part = .exponent
            case 0x30...0x39 where part == .exponent:
                exponent = min(exponent * 10 + Int(byte - 0x30), Self.exponentLimit)
            case 0x30...0x39:
                if part == .fraction { fractionDigits += 1 }
                if byte != 0x30 || !digits.isEmpty { digits.append(byte - 0x30) }
            default: break
            }
        }
        self.isNegative = isNegative
        self.digits = digits
        self.exponent = (isExponentNegative ? -exponent : exponent) - fractionDigits
    }

    private enum Part {
        case whole, fraction, exponent
    }

    /// The number in millionths, nil beyond 64 bits.
    ///
    /// Exact for up to six decimals; more (RevenueCat's numbers have been binary fractions) are
    /// rounded to the nearest, a tie to the even one.
    var micros: Int64? { scaled(by: 6)?.value }

    /// The number if it is an integer of 64 bits, however written (`1785175200000.0`).
    var integer: Int64? {
        guard let (value, isExact) = scaled(by: 0), isExact else { return nil }
        return value
    }

    /// The number × 10^`scale` as an integer, and whether nothing was rounded away.
    private func scaled(by scale: Int) -> (value: Int64, isExact: Bool)? {
        guard !digits.isEmpty else { return (0, true) }
        let shift = exponent + scale
        let keptCount = digits.count + min(shift, 0)
        // A 64-bit integer has at most 19 digits.
        guard digits.count + shift <= 19 else { return nil }
        guard keptCount >= 0 else { return (0, false) }
        guard var magnitude = Self.integer(digits[..<keptCount], zeros: max(shift, 0)) else {
            return nil
        }
        let rest = digits[keptCount...]
        if Self.roundsUp(rest, isOdd: magnitude % 2 == 1) {
            let (next, overflow) = magnitude.addingReportingOverflow(1)
            guard !overflow else { return nil }
            magnitude = next
        }
        // Fits: a magnitude is not negative.
        return (isNegative ? -magnitude : magnitude, rest.allSatisfy { $0 == 0 })
    }

    private static func integer(_ digits: ArraySlice<UInt8>, zeros: Int) -> Int64? {
        var value: Int64 = 0
        for digit in digits + repeatElement(0, count: zeros) {
            let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = product.addingReportingOverflow(Int64(digit))
            guard !productOverflow, !sumOverflow else { return nil }
            value = sum
        }
        return value
    }

    private static func roundsUp(_ rest: ArraySlice<UInt8>, isOdd: Bool) -> Bool {
        guard let first = rest.first, first >= 5 else { return false }
        return first > 5 || rest.dropFirst().contains { $0 != 0 } || isOdd
    }
}
