package import Encodings
package import Entitlements

/// Reads webhook bodies that the operator hands in (`entitle import --format revenuecat`).
package enum RevenueCatImport {
    /// What became of one item of an import.
    package typealias Outcome = Result<Submission, SignalRefusal>

    /// Reads a webhook body, a bare event, or an array of them, in their order.
    ///
    /// An item that is refused does not hold up the others; inside an array its path begins with
    /// its index, such as `[2].event.id`. The same event twice gives two submissions of one id:
    /// the ledger keeps the first (E1).
    ///
    /// - Parameters:
    ///   - json: One JSON value.
    ///   - body: The bytes that `json` was read from, to be kept as evidence of a single item;
    ///     nil, and for the items of an array: the item as JSON text without white space, numbers
    ///     as they were written.
    ///   - now: The time of arrival.
    /// - Returns: One outcome for each item, in their order.
    package static func outcomes(
        of json: JSONValue,
        body: [UInt8]? = nil,
        now: Instant
    ) -> [Outcome] {
        guard let items = json.array else { return [outcome(of: json, body: body, now)] }
        return items.enumerated().map { index, item in
            outcome(of: item, body: nil, now).mapError { $0.inside("[\(index)]") }
        }
    }

    /// Whether a value looks like RevenueCat's rather than another format's; an array is judged
    /// by its first item.
    package static func looksLikeWebhook(_ json: JSONValue) -> Bool {
        let item = json.array?.first ?? json
        let event = item["event"] ?? item
        return event["type"] != nil && event["event_timestamp_ms"] != nil
    }

    private static func outcome(
        of json: JSONValue,
        body: [UInt8]?,
        _ now: Instant
    ) -> Outcome {
        UnverifiedRevenueCatWebhook.reading(json).map {
            RevenueCatMapping.submission(
                for: $0.trusting(.operatorImport, receivedAt: now),
                body: body ?? Array(json.description.utf8),
                named: PayloadNames.revenueCat.subjects(in: json)
            )
        }
    }
}
