/// The id of an order: `GPA.1234-5678-9012-34567` for the first one of a subscription, with `..0`
/// behind it for its first renewal, `..1` for the second, …
/// (support.google.com/googleplay/android-developer/answer/2741495).
struct PlayOrder: Hashable, Sendable {
    /// The whole id.
    let id: String
    /// The id of the first order.
    let base: String
    /// How many orders came before it.
    let place: Int

    init(_ id: String) {
        self.id = id
        if let dots = id.firstRange(of: ".."), dots.lowerBound > id.startIndex,
            let renewal = Int(id[dots.upperBound...]),
            renewal >= 0, renewal < Int.max
        {
            base = String(id[..<dots.lowerBound])
            // Fits: it is not the largest.
            place = renewal + 1
        } else {
            base = id
            place = 0
        }
    }

    var isFirst: Bool { place == 0 }

    /// The order before it; nil: it is the first.
    var previous: PlayOrder? {
        switch place {
        case 0: nil
        case 1: PlayOrder(base)
        default: PlayOrder("\(base)..\(place - 2)")
        }
    }
}
