import NIOCore

/// Things in the order of their coming, each of which may go at any time.
///
/// Every call is O(1), on average over all.
struct OldestFirst<Element> {
    private var elements: [UInt64: Element] = [:]
    /// Tickets in their order, among them some of what has gone.
    private var order = CircularBuffer<UInt64>()
    private var issued: UInt64 = 0

    /// Tickets of what has gone that are kept at most, beside as many as there are elements.
    private static var slack: Int { 64 }

    var count: Int { elements.count }

    /// Adds what comes last; the ticket is its alone.
    mutating func insert(_ element: Element) -> UInt64 {
        issued += 1
        elements[issued] = element
        order.append(issued)
        if order.count > 2 * elements.count + Self.slack {
            order = CircularBuffer(order.filter { elements[$0] != nil })
        }
        return issued
    }

    /// What a ticket stands for; nil: it has gone.
    subscript(ticket: UInt64) -> Element? { elements[ticket] }

    /// Puts another in the place of what a ticket stands for, if it has not gone.
    mutating func update(_ element: Element, at ticket: UInt64) {
        if elements[ticket] != nil { elements[ticket] = element }
    }

    @discardableResult
    mutating func remove(_ ticket: UInt64) -> Element? { elements.removeValue(forKey: ticket) }

    /// Takes out what came first, that of a ticket apart; nil: there is nothing else.
    mutating func removeOldest(but kept: UInt64? = nil) -> Element? {
        var isPassed = false
        defer { if isPassed, let kept { order.prepend(kept) } }
        while let ticket = order.popFirst() {
            if ticket == kept {
                isPassed = true
            } else if let element = elements.removeValue(forKey: ticket) {
                return element
            }
        }
        return nil
    }
}
