import Crypto
package import Encodings
public import Entitlements

/// From what the App Store has signed to what it says: a pure table (Stores, rule 1).
///
/// Nothing is dropped: a type that has no row, and a message whose fields its row cannot use,
/// become `signal.noted` with the message as evidence (Stores, rules 5 and
/// 6). Cost: linear in the message.
public enum AppStoreMapping {
    /// What a notification comes to; always at least one event.
    ///
    /// Its `id` is Apple's `notificationUUID`; `body`, as received, is kept as evidence.
    public static func submission(
        for notification: VerifiedAppStoreNotification,
        body: [UInt8]
    ) -> Submission {
        submission(for: notification, body: body, readAs: nil)
    }

    /// What a notification comes to; `json`: what the body was read as, so that it is read once.
    package static func submission(
        for notification: VerifiedAppStoreNotification,
        body: [UInt8],
        readAs json: JSONValue?
    ) -> Submission {
        submission(
            notification.signalID,
            notification.environment,
            meaning(of: notification),
            body,
            readAs: json,
            notification.messages
        )
    }

    /// What a transaction comes to that was handed in by itself.
    ///
    /// Its `id` is `transaction/` and the digest of the JWS: the same JWS again is a repeat.
    public static func submission(for transaction: VerifiedAppStoreTransaction) -> Submission {
        let kind = AppStoreSignalKind.transaction
        let meaning = meaning { () throws(InputFault) in
            AppStoreMeaning(try AppStorePeriod(transaction).drafts())
        } otherwise: { detail in
            AppStoreMeaning(
                noting: kind.rawValue,
                on: transaction.purchase,
                at: transaction.content.signedAt,
                detail: detail
            )
        }
        return submission(kind, transaction.content.payload, meaning)
    }

    /// What renewal info comes to that was handed in by itself.
    public static func submission(for renewal: VerifiedAppStoreRenewalInfo) -> Submission {
        submission(for: renewal, after: nil)
    }

    /// What renewal info comes to; `transaction`: the last one of its purchase, where it stands beside
    /// it in an answer.
    static func submission(
        for renewal: VerifiedAppStoreRenewalInfo,
        after transaction: VerifiedAppStoreTransaction?
    ) -> Submission {
        let kind = AppStoreSignalKind.renewalInfo
        func note(_ detail: String? = nil) -> AppStoreMeaning {
            AppStoreMeaning(
                noting: kind.rawValue,
                on: renewal.purchase,
                at: renewal.content.signedAt,
                detail: detail
            )
        }
        let meaning = meaning { () throws(InputFault) in
            let standing = transaction.flatMap { AppStoreStanding(renewal, after: $0) }
            let drafts = try renewalDrafts(renewal) + (standing?.drafts() ?? [])
            return drafts.isEmpty ? note() : AppStoreMeaning(drafts)
        } otherwise: {
            note($0)
        }
        return submission(kind, renewal.content.payload, meaning)
    }

    /// What an app transaction comes to: it names no purchase and changes no access.
    public static func submission(for transaction: VerifiedAppTransaction) -> Submission {
        let kind = AppStoreSignalKind.appTransaction
        let meaning = AppStoreMeaning(
            noting: kind.rawValue,
            on: nil,
            at: transaction.content.createdAt
        )
        return submission(kind, transaction.content.payload, meaning)
    }

    /// What any of them comes to; `body` is the evidence of a notification.
    public static func submission(for signal: VerifiedAppStoreSignal, body: [UInt8]) -> Submission {
        submission(for: signal, body: body, readAs: nil)
    }

    /// What any of them comes to; `json`: what the body was read as.
    static func submission(
        for signal: VerifiedAppStoreSignal,
        body: [UInt8],
        readAs json: JSONValue?
    ) -> Submission {
        switch signal {
        case .notification(let notification):
            submission(for: notification, body: body, readAs: json)
        case .transaction(let transaction): submission(for: transaction)
        case .renewalInfo(let renewal): submission(for: renewal)
        case .appTransaction(let transaction): submission(for: transaction)
        }
    }

    /// The types and subtypes of notifications that have a row; a subtype is empty where none is
    /// sent.
    package static var knownTypes: [(type: String, subtype: String)] { AppStoreRows.all }

    private static func meaning(of notification: VerifiedAppStoreNotification) -> AppStoreMeaning {
        let content = notification.content
        func note(_ detail: String) -> AppStoreMeaning {
            AppStoreMeaning(
                noting: content.type,
                on: notification.purchase,
                at: content.signedAt,
                detail: detail
            )
        }
        return meaning { () throws(InputFault) in
            let statement = try AppStoreStatement(notification)
            let row = AppStoreRows.row(content.type, content.subtype) ?? { $0.note() }
            // What is signed stands, whatever a type that is not known yet may mean, and where a
            // known one lacks what it needs (Stores, rule 5).
            let added = meaning { () throws(InputFault) in
                AppStoreMeaning(try row(statement))
            } otherwise: {
                note($0)
            }
            let renewal = notification.renewalInfo.map(renewalDrafts) ?? []
            return AppStoreMeaning(statement.drafts + added.drafts + renewal)
        } otherwise: {
            note($0)
        }
    }

    /// Whether and to what the subscription renews: the newest statement counts (P10).
    private static func renewalDrafts(_ renewal: VerifiedAppStoreRenewalInfo) -> [EventDraft] {
        let content = renewal.content
        guard let purchase = renewal.purchase,
            content.willRenew != nil || content.autoRenewProductID != nil
        else { return [] }
        return [
            EventDraft(
                subject: .purchase(purchase),
                time: content.signedAt,
                observedAt: content.signedAt,
                data: EventData(
                    .purchaseRenewalChanged,
                    [
                        .autoRenew: content.willRenew.map { .flag($0) },
                        .nextProductID: content.autoRenewProductID.map { .text($0) },
                    ]
                )
            )
        ]
    }

    private static func meaning(
        _ meaning: () throws(InputFault) -> AppStoreMeaning,
        otherwise note: (_ detail: String) -> AppStoreMeaning
    ) -> AppStoreMeaning {
        do throws(InputFault) {
            return try meaning()
        } catch {
            return note(error.detail)
        }
    }

    /// A message without an id of its own is named by its digest.
    private static func submission(
        _ kind: AppStoreSignalKind,
        _ payload: AppStorePayload,
        _ meaning: AppStoreMeaning
    ) -> Submission {
        let jws = payload.jws.bytes
        let id = kind.rawValue + "/" + Hexadecimal.encode(SHA256.hash(data: jws))
        return submission(id, payload.environment, meaning, jws, readAs: nil, [payload])
    }

    private static func submission(
        _ id: String,
        _ environment: StoreEnvironment,
        _ meaning: AppStoreMeaning,
        _ body: [UInt8],
        readAs json: JSONValue?,
        _ messages: [AppStorePayload]
    ) -> Submission {
        let decoded = messages.map(\.jws)
        return Submission(
            id: SignalID.of(id),
            source: Source.appStore,
            environment: environment,
            nature: .signal,
            drafts: meaning.drafts,
            evidenceParts: AppStoreEvidence(
                headers: signedHeaders(of: messages),
                decoded: decoded
            )
            .parts(of: body),
            named: json.map { PayloadNames.appStore.subjects(in: $0, decoded: decoded) }
                ?? PayloadNames.appStore.subjects(in: body, decoded: decoded)
        )
    }

    /// The headers whose signatures were checked.
    ///
    /// Mostly one: comparing a few is cheaper than hashing kilobytes.
    private static func signedHeaders(of messages: [AppStorePayload]) -> [[UInt8]] {
        var headers: [[UInt8]] = []
        for message in messages where message.isSigned {
            let header = Array(message.jws.text.header)
            if !headers.contains(header) { headers.append(header) }
        }
        return headers
    }
}

extension VerifiedAppStoreNotification {
    /// Itself and what is nested in it.
    fileprivate var messages: [AppStorePayload] {
        [
            content.payload, transaction?.content.payload, renewalInfo?.content.payload,
            appTransaction?.content.payload,
        ].compactMap(\.self)
    }
}
