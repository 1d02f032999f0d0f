import Entitlements

extension Instant {
    /// The same without a fraction where there is none: a page has hundreds of times.
    var brief: String {
        let text = description
        let fraction = ".000Z"
        return text.hasSuffix(fraction) ? text.dropLast(fraction.count) + "Z" : text
    }
}
