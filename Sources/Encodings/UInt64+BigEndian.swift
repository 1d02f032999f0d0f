extension UInt64 {
    /// The eight bytes, the highest first: their order is that of the numbers.
    package var bigEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) }
    }

    /// The number of eight bytes, the highest first.
    ///
    /// - Precondition: there are eight.
    package init(bigEndianBytes bytes: some Collection<UInt8>) {
        precondition(bytes.count == 8, "eight bytes make a number")
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
