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

    /// The delivery as it is kept.
    package var bytes: [UInt8] {
        var members = [
            JSONMember("stream", .integer(stream)), JSONMember("attempts", .integer(attempts)),
        ]
        if let nextAt { members.append(JSONMember("nextAt", .integer(nextAt.milliseconds))) }
        if let status { members.append(JSONMember("status", .integer(status))) }
        if let fault { members.append(JSONMember("fault", .string(fault.rawValue))) }
        if isResent { members.append(JSONMember("resent", .bool(true))) }
        return Array(JSONValue.object(members).description.utf8)
    }

    /// Reads one as it is kept; nil: it is one of a later version's.
    package init?(_ bytes: [UInt8]) {
        // What cannot be read is none of this version's.
        guard let json = try? JSONValue(parsing: bytes),
            case .number(let digits)? = json["stream"], let stream = UInt64(digits),
            let attempts = json["attempts"]?.integer
        else { return nil }
        self.stream = stream
        self.attempts = Int(attempts)
        nextAt = json["nextAt"]?.integer.map { Instant(milliseconds: $0) }
        status = json["status"]?.integer.map { Int($0) }
        fault = json["fault"]?.string.flatMap { WebhookDelivery.Fault(rawValue: $0) }
        isResent = json["resent"]?.bool ?? false
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
