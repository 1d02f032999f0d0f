package import Encodings
package import Entitlements
package import LedgerAPI

/// Values as they stand in a cell or a sentence; a dash where there is none.
package enum CellText {
    /// A value of JSON; of what holds others only a dash.
    package static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text
        case .number(let digits)?: digits
        case .bool(let flag)?: flag ? "yes" : "no"
        default: "-"
        }
    }

    /// Any other value.
    package static func text(_ value: (some CustomStringConvertible)?) -> String {
        value?.description ?? "-"
    }

    /// R, behind what it limits; empty: all that is known, or a prefix by its size.
    package static func known(at instant: Instant?) -> String {
        instant.map { ", as known at \($0)" } ?? ""
    }

    /// What is left of a limit, and until when nothing is; empty: there is no limit.
    package static func limit(_ limit: UsageLimit?) -> String {
        guard let limit else { return "" }
        let period = text(limit.period?.rawValue)
        let reset = limit.remaining == 0 ? limit.resetsAt.map { " until \($0)" } ?? "" : ""
        return "\(text(limit.remaining)) of \(text(limit.count)) a \(period)" + reset
    }
}
