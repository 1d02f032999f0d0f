import Encodings
import Entitlements

/// An answer of RevenueCat's API, with who was asked for; or a line of what it exports.
///
/// Whoever makes one vouches for it: it was fetched, or the operator hands it in.
struct RevenueCatAnswer: Hashable, Sendable {
    /// Who was asked for; nil: a list that names its customers itself.
    let customer: CustomerID?
    /// When it was given (T2): the time of arrival where that is not told.
    let observedAt: Instant
    /// Whether it is told when it was given.
    let isDated: Bool
    let content: Content
    /// All transactions of subscriptions by their ids, as pages.
    let transactions: [Name: JSONValue]
    /// Products by their ids.
    let products: [Name: JSONValue]
    /// All of it, as JSON and as it is kept.
    let json: JSONValue
    let body: [UInt8]

    enum Content: Hashable, Sendable {
        /// Of version 1: `GET /v1/subscribers/{app_user_id}`.
        case subscriber(PayloadObject)
        /// Of version 2: subscriptions, purchases, or both.
        case list([JSONValue])
        /// Of version 2: the customer, without what was bought.
        case customer
        /// One transaction: a row of the scheduled data exports, by its columns.
        case row(PayloadObject)
    }

    /// Whether a value looks like an answer or a row; `json` is no array.
    static func looksLikeOne(_ json: JSONValue) -> Bool {
        isBare(json) || (json["appUserId"] != nil && json["answer"] != nil)
    }

    private static func isBare(_ json: JSONValue) -> Bool {
        json["subscriber"]?.members != nil || json[rowMark] != nil
            || (json["object"]?.string == "list" && json["items"]?.array != nil)
    }

    /// The column that every row has.
    private static let rowMark = "rc_original_app_user_id"
}

extension RevenueCatAnswer {
    /// Reads `{"appUserId":"…","observedAt":"…","transactions":{…},"products":{…},"answer":{…}}`, of
    /// which the last three may be absent, and what stands there for `answer` by itself, which then must
    /// name its customer.
    init(_ json: JSONValue, body: [UInt8], now: Instant) throws(SignalRefusal) {
        let fields = PayloadObject(json: json)
        let isBare = json.present("answer") == nil
        let answer = isBare ? fields : fields.object("answer")
        guard let answer else {
            throw SignalRefusal(.missingField, "answer", "expected a JSON object")
        }
        do throws(SignalRefusal) {
            content = try Self.content(answer)
        } catch {
            throw isBare ? error : error.inside("answer")
        }
        customer =
            isBare
            ? try Self.customer(namedIn: content)
            : try Self.customer(fields["appUserId"], "appUserId")
        let observedAt = try fields.observedAt(now: now) ?? Self.observedAt(answer, now)
        (self.observedAt, isDated) = (observedAt ?? now, observedAt != nil)
        transactions = Self.byID(fields["transactions"])
        products = Self.byID(fields["products"])
        self.json = json
        self.body = body
    }

    private static func byID(_ json: JSONValue?) -> [Name: JSONValue] {
        let members = (json?.members ?? []).map { (Name($0.name), $0.value) }
        return Dictionary(members) { first, _ in first }
    }

    private static func content(_ answer: PayloadObject) throws(SignalRefusal) -> Content {
        if let subscriber = answer.object("subscriber") { return .subscriber(subscriber) }
        if answer[rowMark] != nil { return .row(answer) }
        switch answer.text("object") {
        case "list":
            if let items = answer["items"]?.array { return .list(items) }
        case "subscription", "purchase": return .list([answer.json])
        case "customer": return .customer
        default: break
        }
        throw SignalRefusal(
            .invalidValue,
            "",
            "expected a subscriber, a list of subscriptions or purchases, or a row of an export"
        )
    }

    /// Whom an answer by itself names: who is asked for stands nowhere in it.
    private static func customer(namedIn content: Content) throws(SignalRefusal) -> CustomerID? {
        switch content {
        case .subscriber(let subscriber):
            try customer(
                subscriber["original_app_user_id"],
                "subscriber.original_app_user_id"
            )
        case .row(let row):
            try customer(
                row["rc_last_seen_app_user_id_alias"] ?? row[rowMark],
                "rc_last_seen_app_user_id_alias"
            )
        case .list, .customer: nil
        }
    }

    private static func customer(
        _ value: JSONValue?,
        _ path: String
    ) throws(SignalRefusal) -> CustomerID {
        guard let id = value?.string.flatMap({ CustomerID($0) }) else {
            throw SignalRefusal(.missingField, path, "expected 1 to 1024 bytes of text")
        }
        return id
    }

    /// When an answer by itself was given, where it says so; what lies ahead is not believed.
    private static func observedAt(_ answer: PayloadObject, _ now: Instant) -> Instant? {
        do throws(InputFault) {
            let instants = try [
                answer.instant(milliseconds: "request_date_ms"), answer.instant("request_date"),
                answer.instant(column: "updated_at"),
            ]
            return instants.compactMap(\.self).first.flatMap { $0 <= now ? $0 : nil }
        } catch {
            // An absurd time says nothing of the purchases.
            return nil
        }
    }
}
