package import Encodings
package import Entitlements

/// Reads what the operator hands in (`entitle import --format revenuecat`): bodies of webhooks, answers
/// of the REST API, rows of the scheduled data exports as objects of their columns.
package enum RevenueCatImport {
    /// What became of one item of an import.
    package typealias Outcome = Result<Submission, SignalRefusal>

    /// Reads a webhook body, a bare event, an answer with who was asked for, an answer by itself, or an
    /// array of these, in their order.
    ///
    /// An item that is refused does not hold up the others; inside an array its path begins with
    /// its index, such as `[2].event.id`. The same event twice gives two submissions of one id:
    /// the ledger keeps the first (E1). An answer that tells of production and of the sandbox gives two.
    ///
    /// - Parameters:
    ///   - json: One JSON value.
    ///   - body: The bytes that `json` was read from, to be kept as evidence of a single item;
    ///     nil, and for the items of an array: the item as JSON text without white space, numbers
    ///     as they were written.
    ///   - now: The time of arrival.
    /// - Returns: One outcome or several for each item, in their order.
    package static func outcomes(
        of json: JSONValue,
        body: [UInt8]? = nil,
        now: Instant
    ) -> [Outcome] {
        Array(outcomesOfItems(in: json, body: body, now: now).joined())
    }

    /// The same for each item apart, which is the value itself or an element of it.
    package static func outcomesOfItems(
        in json: JSONValue,
        body: [UInt8]? = nil,
        now: Instant
    ) -> [[Outcome]] {
        guard let items = json.array else { return [outcomes(ofItem: json, body: body, now)] }
        return items.enumerated().map { index, item in
            outcomes(ofItem: item, body: nil, now).map { outcome in
                outcome.mapError { $0.inside("[\(index)]") }
            }
        }
    }

    /// Whether a value looks like RevenueCat's rather than another format's; an array is judged
    /// by its first item.
    package static func looksLikeRevenueCat(_ json: JSONValue) -> Bool {
        let item = json.array?.first ?? json
        return looksLikeWebhook(item) || RevenueCatAnswer.looksLikeOne(item)
    }

    private static func looksLikeWebhook(_ item: JSONValue) -> Bool {
        let event = item["event"] ?? item
        return event["type"] != nil && event["event_timestamp_ms"] != nil
    }

    private static func outcomes(
        ofItem json: JSONValue,
        body: [UInt8]?,
        _ now: Instant
    ) -> [Outcome] {
        guard !looksLikeWebhook(json), RevenueCatAnswer.looksLikeOne(json) else {
            return [outcome(of: json, body: body, now)]
        }
        do throws(SignalRefusal) {
            let answer = try RevenueCatAnswer(
                json,
                body: body ?? Array(json.description.utf8),
                now: now
            )
            return RevenueCatMapping.submissions(for: answer).map { .success($0) }
        } catch {
            return [.failure(error)]
        }
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
                readAs: json
            )
        }
    }
}
