package import Encodings
package import Entitlements

/// Builds what the App Store signs, member by member, and signs it.
///
/// Payloads hold what real ones hold, so that messages have their size. Members can be replaced,
/// added, and left out by JSON's `null`.
package struct SimulatedAppStore: Sendable {
    /// Who signs.
    package var authority: SigningAuthority
    /// The app.
    package var bundleID: String
    /// Its id in the App Store.
    package var appAppleID: Int64
    /// `Production` or `Sandbox`.
    package var environment: String

    /// Makes a store for one app in one environment.
    package init(
        authority: SigningAuthority,
        bundleID: String = "com.example.app",
        appAppleID: Int64 = 1_234_567_890,
        environment: String = "Production"
    ) {
        self.authority = authority
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
    }

    /// A month of a subscription, the first unless `changes` say otherwise.
    ///
    /// It starts, and is signed, at `start`; `changes` are members of the payload to replace, add
    /// or leave out.
    package func transactionPayload(start: Instant, _ changes: JSONValue = .object([])) -> JSONValue
    {
        JSONValue.members([
            "transactionId": "2000000100000001", "originalTransactionId": "2000000100000001",
            "webOrderLineItemId": "2000000010000001", "bundleId": .string(bundleID),
            "productId": "com.example.app.pro.month", "subscriptionGroupIdentifier": "21000001",
            "purchaseDate": .milliseconds(start), "originalPurchaseDate": .milliseconds(start),
            "expiresDate": .milliseconds(start.advanced(byMilliseconds: Self.month)),
            "quantity": .integer(1), "type": "Auto-Renewable Subscription",
            "inAppOwnershipType": "PURCHASED", "signedDate": .milliseconds(start),
            "environment": .string(environment), "transactionReason": "PURCHASE",
            "storefront": "USA", "storefrontId": "143441", "price": .integer(9_990),
            "currency": "USD", "appTransactionId": "704000000000000001",
        ])
        .changed(by: changes)
    }

    /// What the subscription of `transactionPayload` will do next.
    ///
    /// It starts, and is signed, at `start`; `changes` are members of the payload to replace, add
    /// or leave out.
    package func renewalPayload(start: Instant, _ changes: JSONValue = .object([])) -> JSONValue {
        JSONValue.members([
            "originalTransactionId": "2000000100000001",
            "autoRenewProductId": "com.example.app.pro.month",
            "productId": "com.example.app.pro.month", "autoRenewStatus": .integer(1),
            "renewalPrice": .integer(9_990), "currency": "USD",
            "signedDate": .milliseconds(start), "environment": .string(environment),
            "recentSubscriptionStartDate": .milliseconds(start),
            "renewalDate": .milliseconds(start.advanced(byMilliseconds: Self.month)),
            "appTransactionId": "704000000000000001",
        ])
        .changed(by: changes)
    }

    /// A notification around signed parts, named by its `notificationType` and `subtype`.
    ///
    /// `id` is its `notificationUUID`; `changes` are members of the payload to replace, add or
    /// leave out.
    package func notificationPayload(
        _ type: String,
        _ subtype: String? = nil,
        id: String = "0b7e1f6c-4d1f-4c3e-9f0a-2f5f6f7f8f90",
        signedAt: Instant,
        transaction: [UInt8]? = nil,
        renewalInfo: [UInt8]? = nil,
        _ changes: JSONValue = .object([])
    ) -> JSONValue {
        let data = JSONValue.members([
            "appAppleId": .integer(appAppleID), "bundleId": .string(bundleID),
            "bundleVersion": "1", "environment": .string(environment),
            "signedTransactionInfo": .text(transaction), "signedRenewalInfo": .text(renewalInfo),
            "status": transaction == nil ? .null : .integer(1),
        ])
        return JSONValue.members([
            "notificationType": .string(type), "subtype": .optional(subtype),
            "notificationUUID": .string(id), "data": data.changed(by: .object([])),
            "version": "2.0", "signedDate": .milliseconds(signedAt),
        ])
        .changed(by: changes)
    }

    /// A signed transaction.
    ///
    /// It starts, and is signed, at `start`; `changes` are members of the payload to replace, add
    /// or leave out.
    package func transaction(start: Instant, _ changes: JSONValue = .object([])) throws -> [UInt8] {
        try authority.sign(transactionPayload(start: start, changes))
    }

    /// Signed renewal info.
    ///
    /// It starts, and is signed, at `start`; `changes` are members of the payload to replace, add
    /// or leave out.
    package func renewalInfo(start: Instant, _ changes: JSONValue = .object([])) throws -> [UInt8] {
        try authority.sign(renewalPayload(start: start, changes))
    }

    /// A signed notification of real size: about 20 KB, three signatures.
    ///
    /// The period starts, and all is signed, at `start`; `transaction` and `renewalInfo` are members
    /// of those payloads to replace, add or leave out.
    package func notification(
        _ type: String,
        _ subtype: String? = nil,
        id: String = "0b7e1f6c-4d1f-4c3e-9f0a-2f5f6f7f8f90",
        start: Instant,
        transaction: JSONValue = .object([]),
        renewalInfo: JSONValue = .object([])
    ) throws -> [UInt8] {
        try authority.sign(
            notificationPayload(
                type,
                subtype,
                id: id,
                signedAt: start,
                transaction: self.transaction(start: start, transaction),
                renewalInfo: self.renewalInfo(start: start, renewalInfo)
            )
        )
    }

    private static let month = 30 * Instant.millisecondsPerDay
}

extension JSONValue {
    /// A compact JWS, or null.
    fileprivate static func text(_ jws: [UInt8]?) -> JSONValue {
        .optional(jws.map { String(decoding: $0, as: UTF8.self) })
    }
}
