import Encodings
import Entitlements

/// What makes a JWS believable.
protocol AppStoreTrust: Sendable {
    /// Whether a signature is checked.
    var isSigned: Bool { get }

    /// Checks who has signed, and reads the payload.
    func open(_ jws: CompactJWS) async throws(SignalRefusal) -> OpenedJWS

    /// Checks whether it could be signed at that time.
    func admit(_ opened: OpenedJWS, signedAt: Instant, now: Instant) async throws(SignalRefusal)
}

/// A JWS whose signature holds; whom it is meant for is not checked yet.
struct OpenedJWS: Sendable {
    let jws: DecodedJWS
    /// Nil where nothing was signed.
    let chain: AppStoreChain?

    /// What it says.
    var json: JSONValue { jws.json }
}

/// Reads what the App Store signs: first who has signed, then whom it is meant for, then when,
/// then what is nested in it.
struct AppStoreReader: Sendable {
    let bundleIDs: Set<String>
    let appAppleID: Int64?
    /// The App Store's words for the environments that are accepted.
    let environments: [String: StoreEnvironment]
    let trust: any AppStoreTrust

    func outcome(
        _ jws: [UInt8],
        expecting kind: AppStoreSignalKind?,
        now: Instant
    ) async -> Result<VerifiedAppStoreSignal, SignalRefusal> {
        do throws(SignalRefusal) {
            return .success(try await signal(jws, expecting: kind, now: now))
        } catch {
            return .failure(error)
        }
    }

    private func signal(
        _ bytes: [UInt8],
        expecting expected: AppStoreSignalKind?,
        now: Instant
    ) async throws(SignalRefusal) -> VerifiedAppStoreSignal {
        let opened = try await trust.open(CompactJWS(bytes))
        let kind = AppStoreSignalKind(of: opened.json)
        guard expected == nil || expected == kind else {
            throw SignalRefusal(.invalidValue, "payload", "of another kind than expected")
        }
        switch kind {
        case .notification:
            return .notification(try await notification(opened, now))
        case .transaction:
            try checkBundle(opened.json, "")
            let payload = try await payload(opened, "environment", "signedDate", now)
            let content = AppStoreTransaction(payload: payload)
            return .transaction(VerifiedAppStoreTransaction(content: content))
        case .renewalInfo:
            let payload = try await payload(opened, "environment", "signedDate", now)
            let content = AppStoreRenewalInfo(payload: payload)
            return .renewalInfo(VerifiedAppStoreRenewalInfo(content: content))
        case .appTransaction:
            try checkBundle(opened.json, "")
            let payload = try await payload(opened, "receiptType", "receiptCreationDate", now)
            try checkApp(opened.json, payload.environment, "")
            let content = AppTransaction(payload: payload)
            return .appTransaction(VerifiedAppTransaction(content: content))
        }
    }

    /// A payload whose environment stands in a member of its own.
    private func payload(
        _ opened: OpenedJWS,
        _ environmentName: String,
        _ dateName: String,
        _ now: Instant
    ) async throws(SignalRefusal) -> AppStorePayload {
        let word = opened.json[environmentName]?.string
        let environment = try environment(word, environmentName)
        return try await payload(opened, environment, dateName, now)
    }

    /// A payload whose time is checked too.
    private func payload(
        _ opened: OpenedJWS,
        _ environment: StoreEnvironment,
        _ dateName: String,
        _ now: Instant
    ) async throws(SignalRefusal) -> AppStorePayload {
        let signedAt: Instant
        switch AppStoreDate(opened.json.present(dateName)) {
        // Without it nothing says when the certificates must have been valid.
        case .unstated: throw SignalRefusal(.missingField, dateName, "required")
        case .at(let instant): signedAt = instant
        case .afterAll: throw SignalRefusal(.futureDate, dateName, "expected a date up to now")
        case .absurd:
            throw SignalRefusal(.outOfRange, dateName, "expected milliseconds since 2000")
        }
        try await trust.admit(opened, signedAt: signedAt, now: now)
        return AppStorePayload(
            jws: opened.jws,
            environment: environment,
            signedAt: signedAt,
            isSigned: trust.isSigned
        )
    }

    func environment(_ word: String?, _ path: String) throws(SignalRefusal) -> StoreEnvironment {
        guard let word, let environment = environments[word] else {
            throw SignalRefusal(.wrongEnvironment, path, "not one that is accepted here")
        }
        return environment
    }

    func checkBundle(_ json: JSONValue, _ path: String) throws(SignalRefusal) {
        guard let bundleID = json["bundleId"]?.string, bundleIDs.holds(bundleID) else {
            throw SignalRefusal(.wrongBundle, path + "bundleId", "not an app of this ledger")
        }
    }

    /// Only production names the app by its id in the store.
    func checkApp(
        _ json: JSONValue,
        _ environment: StoreEnvironment,
        _ path: String
    ) throws(SignalRefusal) {
        guard environment == .production else { return }
        guard let appAppleID else {
            throw SignalRefusal(.wrongApp, path + "appAppleId", "no id is configured for the app")
        }
        guard json["appAppleId"]?.integer == appAppleID else {
            throw SignalRefusal(.wrongApp, path + "appAppleId", "not the app of this ledger")
        }
    }
}

extension AppStoreReader {
    /// What an external purchase in the sandbox is called by; it names no environment
    /// (developer.apple.com/documentation/appstoreservernotifications/externalpurchaseid).
    private static let sandboxPrefix = "SANDBOX"

    private func notification(
        _ opened: OpenedJWS,
        _ now: Instant
    ) async throws(SignalRefusal) -> VerifiedAppStoreNotification {
        let (kind, body) = try AppStoreNotification.content(of: opened.json)
        let path = kind.rawValue + "."
        try checkBundle(body, path)
        var word = body["environment"]?.string
        if kind == .externalPurchaseToken {
            let id = body["externalPurchaseId"]?.string
            word = id?.hasPrefix(Self.sandboxPrefix) == true ? "Sandbox" : "Production"
        }
        let environment = try environment(word, path + "environment")
        try checkApp(body, environment, path)
        let payload = try await payload(opened, environment, "signedDate", now)
        let notification = VerifiedAppStoreNotification(
            content: try AppStoreNotification(payload),
            transaction: try await nested(body, "signedTransactionInfo", .transaction, path, now) {
                if case .transaction(let found) = $0 { found } else { nil }
            },
            renewalInfo: try await nested(body, "signedRenewalInfo", .renewalInfo, path, now) {
                if case .renewalInfo(let found) = $0 { found } else { nil }
            },
            appTransaction: try await nested(
                body,
                "signedAppTransactionInfo",
                .appTransaction,
                path,
                now
            ) {
                if case .appTransaction(let found) = $0 { found } else { nil }
            }
        )
        try AppStoreAgreement.check(notification, body: body, path: path)
        return notification
    }

    /// What stands in a member as a JWS of its own, judged like the outer one.
    private func nested<Signal>(
        _ body: JSONValue,
        _ name: String,
        _ kind: AppStoreSignalKind,
        _ path: String,
        _ now: Instant,
        _ extract: (VerifiedAppStoreSignal) -> Signal?
    ) async throws(SignalRefusal) -> Signal? {
        guard let value = body.present(name) else { return nil }
        do throws(SignalRefusal) {
            guard let text = value.string else {
                throw SignalRefusal(.invalidValue, "", "expected a compact JWS")
            }
            let found = try await self.signal(Array(text.utf8), expecting: kind, now: now)
            return extract(found)
        } catch {
            throw error.inside(path + name)
        }
    }
}

/// Whether what is nested in a notification speaks of the same as the notification.
enum AppStoreAgreement {
    /// Compares environment, app and purchase.
    ///
    /// Products are not compared: the transaction of a refund may be an older period's, and
    /// renewal info speaks of the running one.
    static func check(
        _ notification: VerifiedAppStoreNotification,
        body: JSONValue,
        path: String
    ) throws(SignalRefusal) {
        let environments = [
            notification.transaction?.environment, notification.renewalInfo?.environment,
            notification.appTransaction?.environment,
        ]
        guard environments.allSatisfy({ $0 == nil || $0 == notification.environment }) else {
            throw SignalRefusal(.disagreement, path + "environment", "not that of what it holds")
        }
        let bundleIDs = [
            notification.transaction?.content.bundleID,
            notification.appTransaction?.content.bundleID,
        ]
        guard bundleIDs.allSatisfy({ $0 == nil || $0.isSame(as: body["bundleId"]?.string) }) else {
            throw SignalRefusal(.disagreement, path + "bundleId", "not that of what it holds")
        }
        guard let transaction = notification.transaction, let renewal = notification.renewalInfo
        else { return }
        guard transaction.purchase == renewal.purchase else {
            throw SignalRefusal(
                .disagreement,
                path + "signedRenewalInfo",
                "not of the transaction's purchase"
            )
        }
    }
}
