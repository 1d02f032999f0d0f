import Encodings
import Entitlements
import Testing

/// Small documents and events to vary.
enum Sample {
    /// 2026-01-01T00:00:00Z.
    static let newYear = Instant(milliseconds: 1_767_225_600_000)

    /// A day of January 2026, counted on.
    static func day(_ day: Int64) -> Instant {
        newYear.advanced(byMilliseconds: (day - 1) * Instant.millisecondsPerDay)
    }

    static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    /// Tiers free and pro; `scan` is free and limited to three uses a day.
    static func catalog(policy: String = "keep", count: Int = 3) throws -> JSONValue {
        try json(
            """
            {"tiers":["free","pro"],
             "features":[{"id":"export"},
               {"id":"scan","level":"free","limits":{"free":{
                 "perUse":{"amount":30,"unit":"seconds"},
                 "perPeriod":{"count":\(count),"period":"day","timeZone":"UTC"}}}}],
             "products":[{"id":"pro.month","kind":"auto_renewable","unlocks":{"tier":"pro"}},
                         {"id":"pro.life","kind":"non_consumable",
                          "unlocks":{"all":true}}],
             "trials":[{"id":"week","days":7,"tier":"pro"}],
             "policy":{"claim":"\(policy)"}}
            """
        )
    }

    /// An event as it comes in.
    static func event(
        _ id: String,
        _ type: String,
        _ subject: String,
        data: String = "{}",
        time: Instant = newYear,
        more: String = ""
    ) throws -> Event {
        try Event(validating: json(line(id, type, subject, data: data, time: time, more: more)))
    }

    /// An event as a line of an import.
    static func line(
        _ id: String,
        _ type: String,
        _ subject: String,
        data: String = "{}",
        time: Instant = newYear,
        more: String = ""
    ) -> String {
        """
        {"specversion":"1.0","id":"\(id)","source":"support","type":"\(type)",\
        "subject":"\(subject)","time":"\(time)","data":\(data)\(more)}
        """
    }

    /// A completed purchase as a line.
    static func purchaseLine(
        _ id: String,
        _ purchase: String,
        product: String = "pro.month",
        kind: String = "auto_renewable",
        until end: String? = "2026-02-01T00:00:00.000Z"
    ) -> String {
        let expires = end.map { ",\"expiresAt\":\"\($0)\"" } ?? ""
        return line(
            id,
            "purchase.completed",
            "purchase/" + purchase,
            data: """
                {"transactionId":"t-\(id)","productId":"\(product)",\
                "productKind":"\(kind)"\(expires)}
                """
        )
    }

    /// A grant of the highest tier as a line.
    static func grantLine(
        _ id: String,
        to customer: String,
        until end: Instant? = nil
    ) -> String {
        let expires = end.map { #","expiresAt":"\#($0)""# } ?? ""
        return line(
            id,
            "grant.given",
            "customer/" + customer,
            data: #"{"grantId":"\#(id)","tier":"pro"\#(expires)}"#
        )
    }

    /// Lines of a verified purchase that a customer has claimed.
    static func ownedPurchase(
        _ customer: String,
        _ purchase: String,
        product: String = "pro.month",
        kind: String = "auto_renewable",
        until end: String? = "2026-02-01T00:00:00.000Z"
    ) -> [String] {
        [
            purchaseLine(
                "buy-" + purchase,
                purchase,
                product: product,
                kind: kind,
                until: end
            ),
            line(
                "ok-" + purchase,
                "verification.passed",
                "purchase/" + purchase,
                data: #"{"method":"manual"}"#
            ),
            line(
                "claim-" + purchase,
                "customer.claimed",
                "customer/" + customer,
                data: #"{"purchase":"\#(purchase)"}"#
            ),
        ]
    }

    /// Lines as submissions.
    static func submissions(_ lines: [String]) throws -> [Submission] {
        try lines.map { Submission(event: try Event(validating: json($0))) }
    }
}
