import Entitlements

extension Instant {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// As HTTP says an instant (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    var httpDate: String {
        // 1994-11-06T08:49:37.000Z
        let parts = description.split { !$0.isNumber }
        let month = Self.months[(Int(parts[1]) ?? 1) - 1]
        // The first of January 1970 was a Thursday.
        let days = Int((wholeSeconds / 86_400) % 7)
        let time = parts[3...5].joined(separator: ":")
        return "\(Self.weekdays[days]), \(parts[2]) \(month) \(parts[0]) \(time) GMT"
    }
}
