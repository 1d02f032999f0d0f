import Encodings

/// How long somebody asks us to wait: `Retry-After` in each form that is sent.
package enum RetryAfter {
    /// Milliseconds from now on, a day at most; nil: the text is none of the forms.
    ///
    /// Seconds or a date (RFC 9110, section 10.2.3), or, as Apple sends it, an instant in milliseconds
    /// since 1970 (developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits).
    package static func milliseconds(_ text: String, at now: Instant) -> Int64? {
        if let number = Int64(text) {
            guard number >= 0 else { return nil }
            // Nobody asks to wait for thirty thousand years.
            // Fits: less than a million million.
            if number < leastInstant { return min(number * 1000, limit) }
            return wait(until: number, at: now)
        }
        return date(text).map { wait(until: $0, at: now) }
    }

    private static func wait(until instant: Int64, at now: Instant) -> Int64 {
        let (wait, overflow) = instant.subtractingReportingOverflow(now.milliseconds)
        return overflow ? limit : min(max(0, wait), limit)
    }

    /// Whatever is asked for: what waits that long is given up anyway.
    private static let limit = Instant.millisecondsPerDay

    /// `Sun, 06 Nov 1994 08:49:37 GMT`: the one form that is sent today (RFC 9110, section 5.6.7).
    private static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT",
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return RFC3339.milliseconds(of: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static let leastInstant = Instant.earliest.milliseconds
}
