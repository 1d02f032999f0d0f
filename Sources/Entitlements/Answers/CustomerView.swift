/// Who is answered.
public enum Visibility: String, Sendable, Hashable {
    /// The operator: everything.
    case everything
    /// A customer, by a token of their own: what is theirs.
    case own
}

/// What an answer about a customer may hold: the one place that decides it (Stores, rule 7).
///
/// A customer's own token shows the events of the customer's names (C2) and, of a purchase, those
/// whose effective time lies in a stretch in which the customer owns it (C1, as known at R). What
/// is said of a purchase for an instant in such a stretch is cut to that stretch: its end may rest
/// on what another owner did.
package struct CustomerView: Sendable {
    /// What is the customer's; nil: everything is shown.
    private let own: Own?

    private struct Own {
        /// The name at the end of the links.
        var customer: UInt64
        /// Names of one customer (C2).
        var customers: Links
        /// Names of one purchase (P13).
        var purchases: Links
        /// When the customer owns each purchase, by its number.
        var stretches: [UInt64: [Interval]]
    }

    /// The view of who may see everything.
    package static let everything = CustomerView(own: nil)

    private init(own: Own?) { self.own = own }

    /// The view of a customer.
    ///
    /// `timeline`: the customer's, made of these facts.
    package init(_ visibility: Visibility, of timeline: CustomerTimeline, _ facts: [Fact]) {
        guard visibility == .own else {
            self = .everything
            return
        }
        var stretches: [UInt64: [Interval]] = [:]
        for purchase in timeline.purchases {
            stretches[purchase.timeline.number] = purchase.ownership
        }
        own = Own(
            customer: timeline.customer,
            customers: Links(facts, of: .customerLinked),
            purchases: Links(facts, of: .purchaseLinked),
            stretches: stretches
        )
    }

    /// Whether everything is shown.
    package var isWhole: Bool { own == nil }

    /// Whether a stream is a name of the customer (C2).
    package func isCustomer(_ stream: UInt64) -> Bool {
        own.map { $0.customers.canonical(stream) == $0.customer } ?? true
    }

    /// Whether a stream is a name of the customer, or of a purchase that is theirs at some time.
    package func names(_ stream: UInt64) -> Bool {
        own.map { isCustomer(stream) || $0.stretches[$0.purchases.canonical(stream)] != nil }
            ?? true
    }

    /// Whether a stream is what the customer and a purchase that is theirs at some time are called in answers.
    ///
    /// Another name of a purchase (P13) may have come up in another owner's time: it is told by the events that
    /// are shown and name it, or not at all.
    package func isTold(_ stream: UInt64) -> Bool {
        own.map { isCustomer(stream) || $0.stretches[stream] != nil } ?? true
    }

    /// Whether an event is shown.
    ///
    /// `time`: its effective one (T1). `subject`: the stream that it is about.
    package func shows(_ time: Instant, about subject: UInt64) -> Bool {
        guard let own else { return true }
        guard let stretches = own.stretches[own.purchases.canonical(subject)] else {
            return isCustomer(subject)
        }
        return stretches.contains { $0.contains(time) }
    }

    /// Whether a field of an event is left out of what is shown: free text and who wrote it are the
    /// operator's, and a transfer names whom it takes from.
    package func hides(_ field: Field) -> Bool {
        own != nil && (field.shape == .text || field == .from || field == .erased)
    }

    /// An instant of what a purchase is at another instant, cut to the stretch in which the
    /// customer owns it then; nil where the customer does not, or there is none.
    ///
    /// `purchase`: its number.
    package func cut(_ instant: Instant?, of purchase: UInt64, at time: Instant) -> Instant? {
        guard let own, let instant else { return instant }
        let stretch = own.stretches[purchase]?.first { $0.contains(time) }
        return stretch.map { max(Instant.earlier(instant, $0.end) ?? instant, $0.start) }
    }

    /// Stretches of a purchase's values, in which the customer owns it.
    package func shown(_ values: [NamedStretch], of purchase: UInt64) -> [NamedStretch] {
        guard let own else { return values }
        return values.flatMap { value in
            (own.stretches[purchase] ?? []).compactMap { stretch in
                value.interval.intersection(stretch).map {
                    NamedStretch(value: value.value, interval: $0)
                }
            }
        }
    }

    /// A state of the customer.
    package func shown(_ state: CustomerState) -> CustomerState {
        guard own != nil else { return state }
        var shown = state
        shown.purchases = state.purchases.map { purchase in
            var purchase = purchase
            purchase.expiresAt = cut(purchase.expiresAt, of: purchase.number, at: state.at)
            if let syncedAt = purchase.syncedAt, !shows(syncedAt, about: purchase.number) {
                purchase.syncedAt = nil
            }
            return purchase
        }
        // What its store told a later owner is theirs.
        shown.warnings.removeAll { warning in
            switch warning {
            case .renewalExpected(let purchase), .unconfirmed(let purchase):
                !isKept(purchase, from: state.at)
            case .unmapped, .noCatalog, .neverSeen, .eventsLost: false
            }
        }
        return shown
    }

    /// Whether the customer owns a purchase at an instant and ever after.
    private func isKept(_ purchase: UInt64, from instant: Instant) -> Bool {
        let stretches = own?.stretches[purchase] ?? []
        return stretches.contains { $0.contains(instant) && $0.end == nil }
    }
}
