package import Entitlements

/// An event as support reads it: a row of an export's tables and of its page.
///
/// The event itself, with the names of its members, stands in `events.ndjson`.
package struct ExportedEvent: Described {
    /// Its place in the log.
    package var sequence: UInt64
    /// When it was recorded (T3).
    package var recordedAt: Instant
    /// When it holds (T1).
    package var time: Instant
    /// What it is, in a few words.
    package var title: String
    /// The product that it names, else that of its purchase then.
    package var productID: String?
    /// What was paid or paid back, in units of the currency.
    package var price: String?
    /// ISO 4217.
    package var currencyCode: String?
    /// What the purchase is from then on (P9), as known at R; nil: it is about none of the customer's.
    package var status: PurchaseStatus?
    /// Since when a refund or revocation takes back what the transaction gave, as known at R.
    package var refund: Instant?
    /// Whose the purchase is then (C1), as known at R; nil: nobody's.
    package var owner: String?
    /// What it says, in a sentence.
    package var sentence: String
    /// Its `type`.
    package var type: String
    /// Whom or what it is about.
    package var subject: String
    /// Who told it.
    package var source: String?
    /// Its id; nil: erased or hidden.
    package var id: String?
    /// Its environment.
    package var environment: StoreEnvironment?

    /// Its columns, in their order.
    package static let fields = Fields("ExportedEvent", "An event for support", Self.init) {
        Field("sequence", \.sequence, .count)
        Field("recorded", \.recordedAt, .instant)
        Field("effective", \.time, .instant)
        Field("event", \.title, .text)
        Field("product", \.productID, .orNull(.text))
        Field("price", \.price, .orNull(.decimal))
        Field("currency", \.currencyCode, .orNull(.text))
        Field("status", \.status, .orNull(.word))
        Field("refund", \.refund, .orNull(.instant))
        Field("owner", \.owner, .orNull(.text))
        Field("sentence", \.sentence, .text)
        Field("type", \.type, .text)
        Field("subject", \.subject, .text)
        Field("source", \.source, .orNull(.text))
        Field("id", \.id, .orNull(.text))
        Field("environment", \.environment, .orNull(.environment))
    }
}

extension ExportedEvent {
    /// The row of an event.
    ///
    /// - Parameters:
    ///   - kind: what it is.
    ///   - values: what is shown of its data.
    ///   - recorded: its place in the log, and when it was recorded.
    ///   - time: when it holds.
    ///   - names: whom it is about, who told it, and its id, as they may be shown.
    ///   - environment: its environment.
    ///   - purchase: what its purchase is then, and whose.
    package init(
        _ kind: EventKind,
        _ values: [Entitlements.Field: FieldValue],
        recorded: (sequence: UInt64, at: Instant),
        time: Instant,
        names: (subject: String, source: String?, id: String?),
        environment: StoreEnvironment?,
        purchase: (moment: PurchaseMoment, owner: String?)?
    ) {
        self.init(
            sequence: recorded.sequence,
            recordedAt: recorded.at,
            time: time,
            title: EventSentence.title(of: kind)[.english],
            productID: values[.productID]?.text ?? purchase?.moment.productID,
            price: values[.priceMicros]?.integer.map { Decimals.units(ofMicros: String($0)) },
            currencyCode: values[.currencyCode]?.text,
            status: purchase?.moment.status,
            refund: purchase?.moment.revokedAt,
            owner: purchase?.owner,
            sentence: EventSentence.text(kind, values),
            type: kind.name,
            subject: names.subject,
            source: names.source,
            id: names.id,
            environment: environment
        )
    }
}
