import Crypto
import CryptoExtras
package import Encodings
package import Entitlements
import FoundationEssentials

/// Builds what Google Play and Pub/Sub send, member by member, and signs what they sign, by keys of
/// its own.
///
/// Members can be replaced, added, and left out by JSON's `null`.
package struct SimulatedPlayStore: Sendable {
    private let licenseKey: _RSA.Signing.PrivateKey
    private let tokenKey: _RSA.Signing.PrivateKey
    /// The app.
    package var packageName: String
    /// Who its pushes are for, and by which account they come.
    package var audience: String
    package var serviceAccount: String
    /// The id of the key that tokens are signed by.
    package var keyID: String

    /// Makes a store for one app, with new keys.
    package init(
        packageName: String = "com.example.app",
        audience: String = "https://example.com/v1/signals/play",
        serviceAccount: String = "push@example.iam.gserviceaccount.com",
        keyID: String = "simulated-1"
    ) throws {
        licenseKey = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        tokenKey = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        self.packageName = packageName
        self.audience = audience
        self.serviceAccount = serviceAccount
        self.keyID = keyID
    }

    /// Makes a store for the usual app, with keys as `keyPEMs` gives them.
    ///
    /// - Throws: what is wrong with a key.
    package init(licenseKeyPEM: String, tokenKeyPEM: String) throws {
        licenseKey = try _RSA.Signing.PrivateKey(pemRepresentation: licenseKeyPEM)
        tokenKey = try _RSA.Signing.PrivateKey(pemRepresentation: tokenKeyPEM)
        packageName = "com.example.app"
        audience = "https://example.com/v1/signals/play"
        serviceAccount = "push@example.iam.gserviceaccount.com"
        keyID = "simulated-1"
    }

    /// The keys that purchase data and tokens are signed by, to be kept in files of their owner's.
    package var keyPEMs: (license: String, token: String) {
        (licenseKey.pkcs8PEMRepresentation, tokenKey.pkcs8PEMRepresentation)
    }

    // MARK: Purchase data

    /// The app's key as the Play Console shows it.
    package var licenseKeyText: String {
        Base64.encode(Array(licenseKey.publicKey.derRepresentation).span)
    }

    /// What an app is told of a one-time purchase, unless `changes` say otherwise.
    package func purchaseData(at time: Instant, _ changes: JSONValue = .object([])) -> String {
        JSONValue.members([
            "orderId": "GPA.3300-0000-0000-00001", "packageName": .string(packageName),
            "productId": "com.example.app.lifetime", "purchaseTime": .milliseconds(time),
            "purchaseState": .integer(0), "purchaseToken": "simulated-token-lifetime-1",
            "quantity": .integer(1), "acknowledged": .bool(false),
        ])
        .changed(by: changes).description
    }

    /// `{"purchaseData":…,"signature":…}` over a text.
    package func signed(_ purchaseData: String) throws -> JSONValue {
        let signature = try licenseKey.signature(
            for: Insecure.SHA1.hash(data: Array(purchaseData.utf8)),
            padding: .insecurePKCS1v1_5
        )
        return .members([
            "purchaseData": .string(purchaseData),
            "signature": .string(Base64.encode(Array(signature.rawRepresentation).span)),
        ])
    }

    // MARK: Pushes

    /// The keys that tokens are checked by (RFC 7517).
    package func keySet() throws -> String {
        let numbers = try tokenKey.publicKey.getKeyPrimitives()
        let key = JSONValue.members([
            "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(keyID),
            "n": .string(Base64.encode(Array(numbers.modulus).span, .url)),
            "e": .string(Base64.encode(Array(numbers.publicExponent).span, .url)),
        ])
        return JSONValue.members(["keys": .array([key])]).description
    }

    /// The token of a push, for an hour from `time`.
    package func token(
        at time: Instant,
        claims changes: JSONValue = .object([]),
        header headerChanges: JSONValue = .object([])
    ) throws -> String {
        let seconds = time.milliseconds / 1000
        let header = JSONValue.members(["alg": "RS256", "typ": "JWT", "kid": .string(keyID)])
            .changed(by: headerChanges)
        let claims = JSONValue.members([
            "iss": "https://accounts.google.com", "aud": .string(audience),
            "email": .string(serviceAccount), "email_verified": .bool(true),
            "azp": "100000000000000000001", "sub": "100000000000000000001",
            "iat": .integer(seconds), "exp": .integer(seconds + 3600),
        ])
        .changed(by: changes)
        let signed = [header, claims]
            .map { Base64.encode(Array($0.description.utf8).span, .url) }.joined(separator: ".")
        let signature = try tokenKey.signature(
            for: SHA256.hash(data: Array(signed.utf8)),
            padding: .insecurePKCS1v1_5
        )
        return signed + "." + Base64.encode(Array(signature.rawRepresentation).span, .url)
    }

    /// A push with a notification, whose `content` is one member such as `testNotification`.
    package func push(
        _ content: JSONValue,
        id: String,
        at time: Instant
    ) -> JSONValue {
        let notification = JSONValue.members([
            "version": "1.0", "packageName": .string(packageName),
            "eventTimeMillis": .string(String(time.milliseconds)),
        ])
        .changed(by: content)
        let data = Base64.encode(Array(notification.description.utf8).span)
        return .members([
            "message": .members([
                "attributes": .object([]), "data": .string(data), "messageId": .string(id),
                "publishTime": .string(time.advanced(byMilliseconds: 700).description),
            ]),
            "subscription": "projects/example/subscriptions/play",
        ])
    }

    /// A push that something happened to a subscription.
    package func push(
        subscription type: Int,
        token: String,
        id: String,
        at time: Instant
    ) -> JSONValue {
        push(
            .members([
                "subscriptionNotification": .members([
                    "version": "1.0", "notificationType": .integer(type),
                    "purchaseToken": .string(token),
                ])
            ]),
            id: id,
            at: time
        )
    }

    // MARK: Answers

    /// What the API says of a subscription: active, and bought at `start`, unless `changes` say
    /// otherwise.
    package func subscription(
        order: String,
        start: Instant,
        end: Instant,
        _ changes: JSONValue = .object([]),
        item itemChanges: JSONValue = .object([])
    ) -> JSONValue {
        let item = JSONValue.members([
            "productId": "com.example.app.pro", "expiryTime": .string(end.description),
            "autoRenewingPlan": .members([
                "autoRenewEnabled": .bool(true),
                "recurringPrice": .members([
                    "currencyCode": "EUR", "units": "9", "nanos": .integer(990_000_000),
                ]),
            ]),
            "offerDetails": .members(["basePlanId": "monthly"]),
            "latestSuccessfulOrderId": .string(order),
        ])
        .changed(by: itemChanges)
        return JSONValue.members([
            "kind": "androidpublisher#subscriptionPurchaseV2",
            "startTime": .string(start.description), "regionCode": "DE",
            "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE", "latestOrderId": .string(order),
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "lineItems": .array([item]),
        ])
        .changed(by: changes)
    }

    /// An answer as it is kept: what was asked, and the push that made us ask.
    package func answer(
        _ answer: JSONValue,
        of token: String,
        at time: Instant,
        after push: JSONValue? = nil
    ) -> JSONValue {
        JSONValue.members([
            "packageName": .string(packageName), "purchaseToken": .string(token),
            "observedAt": .string(time.description), "push": push ?? .null, "answer": answer,
        ])
        .changed(by: .object([]))
    }
}
