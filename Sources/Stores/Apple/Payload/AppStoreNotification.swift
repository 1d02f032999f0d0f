package import Encodings
package import Entitlements

/// A message of the App Store about one purchase or app (`responseBodyV2DecodedPayload`,
/// developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload).
package struct AppStoreNotification: Hashable, Sendable {
    let payload: AppStorePayload
    /// The member that says what it is about.
    let content: Content
    /// The notification's id, which each retry has too.
    package let signalID: String
    /// As sent, such as `DID_RENEW`.
    package let type: String

    /// The member that says what a notification is about: exactly one of these.
    enum Content: String, CaseIterable, Sendable {
        case data
        case summary
        case externalPurchaseToken
        case appData
    }

    /// All that was signed.
    package var json: JSONValue { payload.json }
    /// As sent, such as `BILLING_RECOVERY`.
    package var subtype: String? { payload.text("subtype") }
    /// When the App Store signed it.
    package var signedAt: Instant { payload.signedAt }
    /// The environment.
    package var environment: StoreEnvironment { payload.environment }

    /// What every notification has: its content, `notificationUUID` and `notificationType`.
    init(_ payload: AppStorePayload) throws(SignalRefusal) {
        self.payload = payload
        content = try Self.content(of: payload.json).kind
        signalID = try Self.signalID(payload)
        guard let type = payload.text("notificationType"),
            type.contains(where: { $0.isLetter || $0.isNumber })
        else {
            throw SignalRefusal(
                .invalidValue,
                "notificationType",
                "expected text with a letter or a digit"
            )
        }
        self.type = type
    }

    /// The one member that says what a notification is about.
    static func content(
        of json: JSONValue
    ) throws(SignalRefusal) -> (kind: Content, body: JSONValue) {
        let kinds = Content.allCases.filter { json.present($0.rawValue) != nil }
        guard let kind = kinds.first, let body = json.present(kind.rawValue) else {
            throw SignalRefusal(.missingField, "data", "required")
        }
        guard kinds.count == 1 else {
            throw SignalRefusal(
                .disagreement,
                kinds[1].rawValue,
                "expected one of data, summary, externalPurchaseToken and appData"
            )
        }
        return (kind, body)
    }

    private static func signalID(_ payload: AppStorePayload) throws(SignalRefusal) -> String {
        guard let id = payload.identifier("notificationUUID"),
            id.utf8.count <= AppStoreLimits.signalIDBytes
        else {
            throw SignalRefusal(
                .invalidValue,
                "notificationUUID",
                "expected 1 to \(AppStoreLimits.signalIDBytes) bytes without control characters"
            )
        }
        return id
    }
}
