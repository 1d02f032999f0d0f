import Entitlements

/// One thing that a message says, before the signal's id, source and environment are set on it.
struct AppStoreFact: Hashable, Sendable {
    let subject: Subject
    /// When it holds (T1).
    let time: Instant
    /// When the App Store said it (T2): what stands in a signed part was said when that part was
    /// signed, however often it is sent.
    let observedAt: Instant
    let data: EventData
}

/// What a message comes to.
struct AppStoreMeaning: Hashable, Sendable {
    var facts: [AppStoreFact]

    init(_ facts: [AppStoreFact]) { self.facts = facts }

    /// A message that changes nothing, kept all the same (Stores, rule 5).
    ///
    /// It is kept for the purchase, or for the store where none is named; `detail` says why it
    /// changes nothing, if its type could have.
    init(noting word: String, on purchase: PurchaseName?, at time: Instant, detail: String? = nil) {
        facts = [
            AppStoreFact(
                subject: purchase.map { .purchase($0) } ?? .store(Source.appStore),
                time: time,
                observedAt: time,
                data: EventData(
                    .signalNoted,
                    [
                        .name: .text(SignalName.of(word)),
                        .detail: detail.map { .text($0) },
                    ]
                )
            )
        ]
    }
}
