package import Encodings
package import Entitlements

/// Reads what Google Play said from files (`entitle import --format play`): pushes of Pub/Sub, signed
/// purchase data, answers of the Developer API.
package enum PlayImport {
    /// What became of one item of an import.
    package typealias Outcome = Result<Submission, SignalRefusal>

    /// Reads one of them, or an array of them, in their order.
    ///
    /// An item that is refused does not hold up the others; the path of a refusal begins with where
    /// it stands, such as `[2].message.data`. The operator vouches for pushes and answers; signed
    /// purchase data is verified. `body` are the bytes that `json` was read from, the evidence of a
    /// single item; nil, and in an array: the item as JSON text without white space. A list of what was
    /// voided gives an outcome for each of its orders.
    package static func outcomes(
        of json: JSONValue,
        body: [UInt8]? = nil,
        configuration: PlayConfiguration,
        now: Instant
    ) -> [Outcome] {
        Array(
            outcomesOfItems(in: json, body: body, configuration: configuration, now: now).joined()
        )
    }

    /// The same for each item apart, which is the value itself or an element of it.
    package static func outcomesOfItems(
        in json: JSONValue,
        body: [UInt8]? = nil,
        configuration: PlayConfiguration,
        now: Instant
    ) -> [[Outcome]] {
        guard let items = json.array else {
            return [outcomes(ofItem: json, body: body, configuration, now)]
        }
        return items.enumerated().map { index, item in
            outcomes(ofItem: item, body: nil, configuration, now).map { outcome in
                outcome.mapError { $0.inside("[\(index)]") }
            }
        }
    }

    private static func outcomes(
        ofItem json: JSONValue,
        body: [UInt8]?,
        _ configuration: PlayConfiguration,
        _ now: Instant
    ) -> [Outcome] {
        json["answer"]?["voidedPurchases"] == nil
            ? [outcome(of: json, body: body, configuration, now)]
            : voided(json, configuration.packageNames, now)
    }

    /// Whether a value looks like Google Play's rather than another format's; an array is judged by
    /// its first item.
    package static func looksLikePlay(_ json: JSONValue) -> Bool {
        let item = json.array?.first ?? json
        return item["message"]?["data"]?.string != nil || item["purchaseData"]?.string != nil
            || (item["packageName"]?.string != nil && item["answer"]?.members != nil)
    }

    /// Each order of a list that were given back; an entry is its own evidence.
    private static func voided(
        _ json: JSONValue,
        _ packageNames: Set<Name>,
        _ now: Instant
    ) -> [Outcome] {
        guard let name = json["packageName"]?.string, packageNames.contains(Name(name)) else {
            let refusal = SignalRefusal(.wrongBundle, "packageName", "not an app of this ledger")
            return [.failure(refusal)]
        }
        let list = json["answer"]?["voidedPurchases"]?.array ?? []
        return list.enumerated().map { index, entry in
            Result { () throws(SignalRefusal) in
                PlayMapping.submission(
                    for: try PlayVoidedPurchase(entry, observedAt: now),
                    body: Array(entry.description.utf8)
                )
            }
            .mapError { $0.inside("answer.voidedPurchases[\(index)]") }
        }
    }

    private static func outcome(
        of json: JSONValue,
        body: [UInt8]?,
        _ configuration: PlayConfiguration,
        _ now: Instant
    ) -> Outcome {
        let body = body ?? Array(json.description.utf8)
        let packageNames = configuration.packageNames
        if json.present("message") != nil {
            return UnverifiedPlayPush.reading(json, packageNames: packageNames, now: now)
                .map { PlayMapping.submission(for: $0.trusting(.operatorImport), body: body) }
        }
        if json.present("answer") != nil {
            return Result { () throws(SignalRefusal) in
                PlayMapping.submission(
                    for: try PlayAnswer(json, body: body, packageNames: packageNames, now: now)
                )
            }
        }
        guard let data = json["purchaseData"]?.string, let signature = json["signature"]?.string
        else {
            return .failure(
                SignalRefusal(
                    .malformed,
                    "",
                    "expected message, answer, or purchaseData with signature"
                )
            )
        }
        return UnverifiedPlayPurchase.reading(purchaseData: data, signature: signature)
            .flatMap { $0.verified(by: configuration, receivedAt: now) }
            .map { PlayMapping.submission(for: $0) }
    }
}
