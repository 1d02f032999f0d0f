import Encodings
package import Entitlements
package import LedgerAPI

/// How a delivery stands that was not taken.
package struct DeliveryState: Sendable, Hashable {
    /// The stream by which it stands in an order.
    package var stream: UInt64
    /// How often it was tried.
    package var attempts = 0
    /// When it is tried next; nil: once those before it are taken, or not at all.
    package var nextAt: Instant?
    /// What the endpoint last answered; nil: nothing.
    package var status: Int?
    /// Why it gave no answer; nil: it did.
    package var fault: WebhookDelivery.Fault?
    /// Whether somebody asked for it once more: it may come behind what happened later.
    package var isResent = false

    /// One that was not tried.
    package init(stream: UInt64, isResent: Bool = false) {
        self.stream = stream
        self.isResent = isResent
    }

    /// Bytes of one as it is kept; it is read for each that waits, whenever something is planned.
    private static let byteCount = 22
    private static let version: UInt8 = 1
    /// Stands in place of what there is not.
    private static let none = Int64.min

    /// The delivery as it is kept: version, stream, next attempt, attempts, status, fault, whether it is
    /// resent; numbers are big-endian.
    package var bytes: [UInt8] {
        let fault = fault.flatMap { WebhookDelivery.Fault.allCases.firstIndex(of: $0) }
        // Fits: ten attempts, a status of three digits, a handful of faults.
        return [Self.version] + stream.bigEndianBytes
            + UInt64(bitPattern: nextAt?.milliseconds ?? Self.none).bigEndianBytes
            + [
                UInt8(attempts), UInt8(truncatingIfNeeded: (status ?? 0) >> 8),
                UInt8(truncatingIfNeeded: status ?? 0), UInt8((fault ?? -1) + 1), isResent ? 1 : 0,
            ]
    }

    /// Reads one as it is kept; nil: it is one of a later version's.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] == Self.version else { return nil }
        stream = UInt64(bigEndianBytes: bytes[1..<9])
        let next = Int64(bitPattern: UInt64(bigEndianBytes: bytes[9..<17]))
        nextAt = next == Self.none ? nil : Instant(milliseconds: next)
        attempts = Int(bytes[17])
        let status = Int(bytes[18]) << 8 | Int(bytes[19])
        self.status = status == 0 ? nil : status
        let fault = Int(bytes[20]) - 1
        if WebhookDelivery.Fault.allCases.indices.contains(fault) {
            self.fault = WebhookDelivery.Fault.allCases[fault]
        }
        isResent = bytes[21] == 1
    }
}

/// When a delivery that failed is tried again (Standard Webhooks 1.0.0, "Deliverability and
/// reliability").
package enum RetrySchedule {
    /// Seconds between an attempt and the next one: ten attempts in some 76 hours.
    private static let delays: [Int64] = [
        5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]
    /// Milliseconds for which an endpoint may ask to be left alone.
    private static let longest = Instant.millisecondsPerDay
    /// How far a delay is moved, so that those who failed together do not come back together.
    private static let jitter = 0.1

    /// When it is tried again.
    ///
    /// - Parameters:
    ///   - attempts: how often it was tried, this time included.
    ///   - retryAfter: milliseconds that the endpoint asked for.
    ///   - now: when it was tried.
    ///   - random: from 0 to 1.
    /// - Returns: nil: not any more.
    package static func next(
        after attempts: Int,
        retryAfter: Int64?,
        now: Instant,
        random: Double
    ) -> Instant? {
        guard (1...delays.count).contains(attempts) else { return nil }
        // Fits: days in milliseconds.
        let delay = Double(delays[attempts - 1] * 1000) * (1 - jitter + 2 * jitter * random)
        let asked = min(max(0, retryAfter ?? 0), longest)
        return now.advanced(byMilliseconds: max(Int64(delay), asked))
    }
}
