package import Encodings
package import Entitlements

/// Reads what the App Store has signed from files and bodies (`entitle import --format app-store`,
/// webhooks, what apps hand in).
package enum AppStoreImport {
    /// What became of one item of an import.
    package typealias Outcome = Result<Submission, SignalRefusal>

    /// Reads an object with signed members, an answer of the App Store Server API, a compact JWS as a
    /// string, or an array of them, in their order.
    ///
    /// An item that is refused does not hold up the others; the path of a refusal begins with
    /// where it stands, such as `[2].signedPayload`. `body` are the bytes that `json` was read
    /// from: the evidence of a single notification; nil, and in an array: its JWS.
    package static func outcomes(
        of json: JSONValue,
        body: [UInt8]? = nil,
        verifier: any AppStoreSignalVerifier,
        now: Instant
    ) async -> [Outcome] {
        guard let items = json.array else {
            return await outcomes(ofItem: json, body: body, verifier, now)
        }
        var outcomes: [Outcome] = []
        for (index, item) in items.enumerated() {
            outcomes += await self.outcomes(ofItem: item, body: nil, verifier, now)
                .map { $0.mapError { $0.inside("[\(index)]") } }
        }
        return outcomes
    }

    /// Reads a compact JWS by itself.
    package static func outcome(
        ofJWS jws: [UInt8],
        verifier: any AppStoreSignalVerifier,
        now: Instant
    ) async -> Outcome {
        await outcome(jws, expecting: nil, verifier, now)
    }

    /// Whether a value looks like the App Store's rather than another format's; an array is
    /// judged by its first item.
    package static func looksLikeAppStore(_ json: JSONValue) -> Bool {
        let item = json.array?.first ?? json
        if let text = item.string { return looksLikeJWS(Array(text.utf8)) }
        return AppStoreMember.present(in: item).contains { $0.value.string != nil }
            || looksLikeAnswer(item)
    }

    /// Whether an object looks like an answer of the App Store Server API.
    private static func looksLikeAnswer(_ item: JSONValue) -> Bool {
        lists.contains { name, _ in
            guard let list = item[name]?.array else { return false }
            // Others have lists of that name, too.
            return name != Self.groups || list.contains { $0["lastTransactions"]?.array != nil }
        }
    }

    /// Whether bytes look like a compact JWS: three parts, the first a JSON object.
    package static func looksLikeJWS(_ bytes: [UInt8]) -> Bool {
        // What is none does not look like one.
        CompactJWS.isBegun(by: bytes) && (try? CompactJWS(bytes)) != nil
    }

    /// The lists of the API's answers, with what their texts are; objects in them are items again
    /// (HistoryResponse, RefundHistoryResponse, OrderLookupResponse, NotificationHistoryResponse and
    /// StatusResponse of developer.apple.com/documentation/appstoreserverapi).
    private static let lists: [(name: String, kind: AppStoreSignalKind?)] = [
        ("signedTransactions", .transaction), ("notificationHistory", nil), (groups, nil),
        ("lastTransactions", nil),
    ]
    /// The list of a StatusResponse.
    private static let groups = "data"
    /// Lists within one another in one answer: groups, and the transactions of each.
    private static let depthLimit = 2

    private static func outcomes(
        ofItem item: JSONValue,
        body: [UInt8]?,
        _ verifier: any AppStoreSignalVerifier,
        _ now: Instant,
        depth: Int = 0
    ) async -> [Outcome] {
        if let text = item.string {
            return [await outcome(ofJWS: Array(text.utf8), verifier: verifier, now: now)]
        }
        guard case .object = item else {
            return [.failure(SignalRefusal(.malformed, "", "expected a JSON object or a JWS"))]
        }
        var outcomes: [Outcome] = []
        // Renewal info tells how a subscription stands together with the transaction beside it.
        var transaction: VerifiedAppStoreTransaction?
        for (member, value) in AppStoreMember.present(in: item) {
            guard let text = value.string else {
                let refusal = SignalRefusal(.invalidValue, member.name, "expected a compact JWS")
                outcomes.append(.failure(refusal))
                continue
            }
            let jws = Array(text.utf8)
            let signal = await verifier.signal(jws, expecting: member.kind, now: now)
            if case .success(.transaction(let found)) = signal { transaction = found }
            let json = body == nil ? nil : item
            outcomes.append(
                signal.map { signal in
                    if case .renewalInfo(let renewal) = signal {
                        return AppStoreMapping.submission(for: renewal, after: transaction)
                    }
                    return AppStoreMapping.submission(for: signal, body: body ?? jws, readAs: json)
                }
                .mapError { $0.inside(member.name) }
            )
        }
        var isAnswer = false
        for (name, kind) in lists where depth < depthLimit {
            guard let list = item[name]?.array else { continue }
            isAnswer = true
            for (index, element) in list.enumerated() {
                let found =
                    if let text = element.string {
                        [await outcome(Array(text.utf8), expecting: kind, verifier, now)]
                    } else {
                        await self.outcomes(
                            ofItem: element,
                            body: nil,
                            verifier,
                            now,
                            depth: depth + 1
                        )
                    }
                outcomes += found.map { $0.mapError { $0.inside("\(name)[\(index)]") } }
            }
        }
        guard outcomes.isEmpty, !isAnswer else { return outcomes }
        return [.failure(SignalRefusal(.missingField, "signedPayload", "required"))]
    }

    /// Reads a JWS that is its own evidence.
    private static func outcome(
        _ jws: [UInt8],
        expecting kind: AppStoreSignalKind?,
        _ verifier: any AppStoreSignalVerifier,
        _ now: Instant
    ) async -> Outcome {
        await verifier.signal(jws, expecting: kind, now: now)
            .map { AppStoreMapping.submission(for: $0, body: jws) }
    }
}
