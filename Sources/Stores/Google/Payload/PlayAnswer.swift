import Crypto
import Encodings
import Entitlements

/// An answer of the Play Developer API, with what was asked: what it says is the fact
/// (developers.google.com/android-publisher/api-ref/rest/v3).
///
/// Whoever makes one vouches for it: it was fetched, or the operator hands it in.
struct PlayAnswer: Hashable, Sendable {
    let packageName: String
    /// The purchase that was asked for.
    let token: String
    /// When it was given (T2): the time of arrival where that is not told.
    let observedAt: Instant
    /// Whether it is told when it was given.
    let isDated: Bool
    /// What made us ask, and the id of its message; nil: nothing did.
    let cause: Cause?
    let content: Content
    /// All of it as it is kept.
    let body: [UInt8]

    /// A notification that hinted at it.
    struct Cause: Hashable, Sendable {
        var messageID: String
        var notification: PlayNotification
    }

    /// What was asked for.
    enum Content: Hashable, Sendable {
        /// `purchases.subscriptionsv2.get`.
        case subscription(PlayObject)
        /// `purchases.products.get`, of a product.
        case product(PlayObject, productID: String?)
        /// `purchases.productsv2.getproductpurchasev2`.
        case productV2(PlayObject)
    }

    /// The id under which it is recorded: of its cause, else of what was asked and answered, so that the
    /// same answer again, whenever it was given, is a repeat unless Google said something else in between,
    /// where each has its time.
    let signalID: String

    /// When what it says came to be: when that was told, else when it was seen.
    var changedAt: Instant { cause?.notification.saidAt ?? observedAt }
}

extension PlayAnswer {
    /// Reads `{"packageName":"…","purchaseToken":"…","answer":{…}}`, with `productId` where the
    /// answer is that of a product, `observedAt` where it was not given now, and `push` where a push
    /// of Pub/Sub made us ask.
    init(
        _ json: JSONValue,
        body: [UInt8],
        packageNames: Set<Name>,
        now: Instant
    ) throws(SignalRefusal) {
        let fields = PlayObject(json: json)
        guard let packageName = fields.text("packageName") else {
            throw SignalRefusal(.missingField, "packageName", "required")
        }
        guard packageNames.contains(Name(packageName)) else {
            throw SignalRefusal(.wrongBundle, "packageName", "not an app of this ledger")
        }
        guard let token = fields.identifier("purchaseToken") else {
            throw SignalRefusal(.missingField, "purchaseToken", "expected 1 to 1024 bytes of text")
        }
        guard let answer = fields.object("answer") else {
            throw SignalRefusal(.missingField, "answer", "expected a JSON object")
        }
        self.packageName = packageName
        self.token = token
        let observedAt = try fields.observedAt(now: now)
        (self.observedAt, isDated) = (observedAt ?? now, observedAt != nil)
        cause = try Self.cause(fields, of: token, packageNames, now)
        content = try Self.content(answer, productID: fields.name("productId"))
        let said = JSONValue.array([.string(packageName), .string(token), answer.json])
        signalID =
            "answer/"
            + (cause?.messageID
                ?? Hexadecimal.encode(SHA256.hash(data: Array(said.description.utf8))))
        self.body = body
    }

    private static func cause(
        _ fields: PlayObject,
        of token: String,
        _ packageNames: Set<Name>,
        _ now: Instant
    ) throws(SignalRefusal) -> Cause? {
        guard let push = fields["push"] else { return nil }
        do throws(SignalRefusal) {
            let push = try UnverifiedPlayPush.reading(push, packageNames: packageNames, now: now)
                .get()
            let cause = push.cause
            guard cause.notification.token?.isSame(as: token) == true else {
                throw SignalRefusal(.disagreement, "", "not of the answer's purchase")
            }
            return cause
        } catch {
            throw error.inside("push")
        }
    }

    /// Which answer it is shows by what only that one has; `kind` is not always there.
    private static func content(
        _ answer: PlayObject,
        productID: String?
    ) throws(SignalRefusal) -> Content {
        if answer.text("subscriptionState") != nil { return .subscription(answer) }
        if answer.object("purchaseStateContext") != nil { return .productV2(answer) }
        if answer["purchaseState"] != nil { return .product(answer, productID: productID) }
        throw SignalRefusal(
            .invalidValue,
            "answer",
            "expected an answer of subscriptionsv2, productsv2 or products"
        )
    }
}
