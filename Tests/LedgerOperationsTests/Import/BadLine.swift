import Encodings
import Testing

/// One line that an import refuses.
struct BadLine: Sendable, CustomTestStringConvertible {
    var name: String
    var line: String
    var code: String
    var path = ""

    var testDescription: String { name }

    private static func event(
        _ data: String = "{}",
        type: String = "purchase.extended",
        subject: String = "purchase/app_store/1",
        time: String = "2026-01-01T00:00:00Z",
        more: String = ""
    ) -> String {
        """
        {"specversion":"1.0","id":"bad","source":"support","type":"\(type)",\
        "subject":"\(subject)","time":"\(time)","data":\(data)\(more)}
        """
    }

    private static let extended = #"{"transactionId":"t","expiresAt":"2026-02-01T00:00:00Z"}"#

    private static func period(_ more: String) -> String {
        event(
            #"{"transactionId":"t","productId":"p","productKind":"consumable"\#(more)}"#,
            type: "purchase.completed"
        )
    }

    static let all: [BadLine] = [
        BadLine(name: "no JSON", line: "{oops", code: "malformed"),
        BadLine(name: "cut JSON", line: String(event(extended).dropLast()), code: "malformed"),
        BadLine(name: "two values", line: "{} {}", code: "malformed"),
        BadLine(name: "an array of no event", line: "[1]", code: "malformed", path: "[0]"),
        BadLine(name: "a number", line: "7", code: "malformed"),
        BadLine(
            name: "deep nesting",
            line: String(repeating: "[", count: 100_000),
            code: "malformed"
        ),
        BadLine(name: "empty object", line: "{}", code: "invalid_value", path: "specversion"),
        BadLine(
            name: "unknown type",
            line: event(extended, type: "purchase.invented"),
            code: "unknown_type",
            path: "type"
        ),
        BadLine(
            name: "wrong subject",
            line: event(extended, subject: "customer/ann"),
            code: "wrong_subject",
            path: "subject"
        ),
        BadLine(
            name: "less than nothing given back",
            line: event(
                #"{"transactionId":"t","priceMicros":-1,"currencyCode":"EUR"}"#,
                type: "revocation.refunded"
            ),
            code: "out_of_range",
            path: "data.priceMicros"
        ),
        BadLine(
            name: "no subject",
            line: event(extended, subject: "nobody"),
            code: "invalid_value",
            path: "subject"
        ),
        BadLine(
            name: "no time",
            line: event(extended, time: "yesterday"),
            code: "invalid_value",
            path: "time"
        ),
        BadLine(
            name: "bare date",
            line: event(extended, time: "2026-01-01"),
            code: "invalid_value",
            path: "time"
        ),
        BadLine(
            name: "no offset",
            line: event(extended, time: "2026-01-01T00:00:00"),
            code: "invalid_value",
            path: "time"
        ),
        BadLine(
            name: "leap second",
            line: event(extended, time: "2016-12-31T23:59:60Z"),
            code: "invalid_value",
            path: "time"
        ),
        BadLine(
            name: "February 30",
            line: event(extended, time: "2026-02-30T00:00:00Z"),
            code: "invalid_value",
            path: "time"
        ),
        BadLine(
            name: "year 1999",
            line: event(extended, time: "1999-12-31T23:59:59.999Z"),
            code: "out_of_range",
            path: "time"
        ),
        BadLine(
            name: "year 2200",
            line: event(extended, time: "2200-01-01T00:00:00Z"),
            code: "out_of_range",
            path: "time"
        ),
        BadLine(
            name: "absurd end",
            line: event(#"{"transactionId":"t","expiresAt":"9999-01-01T00:00:00Z"}"#),
            code: "out_of_range",
            path: "data.expiresAt"
        ),
        BadLine(
            name: "missing field",
            line: event(#"{"transactionId":"t"}"#),
            code: "missing_field",
            path: "data.expiresAt"
        ),
        BadLine(
            name: "unknown field",
            line: event(String(extended.dropLast()) + #","extra":1}"#),
            code: "unknown_field",
            path: "data.extra"
        ),
        BadLine(
            name: "unknown attribute",
            line: event(extended, more: #","colour":"red""#),
            code: "unknown_field",
            path: "colour"
        ),
        BadLine(
            name: "environment",
            line: event(extended, more: #","environment":"moon""#),
            code: "invalid_value",
            path: "environment"
        ),
        BadLine(
            name: "quantity 0",
            line: period(#","quantity":0"#),
            code: "out_of_range",
            path: "data.quantity"
        ),
        BadLine(
            name: "beyond 64 bits",
            line: period(#","priceMicros":9223372036854775808"#),
            code: "out_of_range",
            path: "data.priceMicros"
        ),
        BadLine(
            name: "fraction",
            line: period(#","priceMicros":1.5"#),
            code: "out_of_range",
            path: "data.priceMicros"
        ),
        BadLine(
            name: "currency",
            line: period(#","currencyCode":"euro""#),
            code: "invalid_value",
            path: "data.currencyCode"
        ),
        BadLine(
            name: "long id",
            line: event(
                extended,
                subject: "purchase/app_store/" + String(repeating: "x", count: 1025)
            ),
            code: "invalid_value",
            path: "subject"
        ),
        BadLine(
            name: "an erasure",
            line: event("{}", type: "customer.erased", subject: "customer/ann"),
            code: "not_permitted",
            path: "type"
        ),
        BadLine(
            name: "a catalog with faults",
            line: event(
                #"{"tiers":["pro"],"features":[],"products":[]}"#,
                type: "catalog.published",
                subject: "catalog"
            ),
            code: "invalid_catalog"
        ),
    ]
}
