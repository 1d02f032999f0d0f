import Entitlements

/// What a message comes to.
///
/// What stands in a signed part was said when that part was signed (T2), however often it is sent.
struct AppStoreMeaning: Hashable, Sendable {
    var drafts: [EventDraft]

    init(_ drafts: [EventDraft]) { self.drafts = drafts }

    /// A message that changes nothing, kept all the same (Stores, rule 5).
    ///
    /// It is kept for the purchase, or for the store where none is named; `detail` says why it
    /// changes nothing, if its type could have.
    init(noting word: String, on purchase: PurchaseName?, at time: Instant, detail: String? = nil) {
        drafts = [
            EventDraft(
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
