import Encodings
import Entitlements
import LedgerAPI
import Tracing

/// Spans as a collector takes them: OTLP's JSON (opentelemetry.io/docs/specs/otlp, "JSON Protobuf
/// Encoding"): numbers of traces and spans in hexadecimal, whole numbers of 64 bits as text, enumerations
/// as numbers.
enum SpanDocument {
    /// The type of an error, and no more of it.
    static let errorType = "error.type"
    static let method = "http.request.method"
    static let route = "http.route"
    static let status = "http.response.status_code"
    static let server = "server.address"
    static let operation = "entitle.operation"

    /// What is sent of a span's attributes, whoever set them: nothing else can name anybody.
    private static let sentAttributes: Set<Name> = [
        Name(errorType), Name(method), Name(route), Name(status), Name(server), Name(operation),
    ]

    /// `service`: under which name the collector shows the server.
    static func bytes(of spans: [EndedSpan], service: String) -> [UInt8] {
        let resource = attribute("service.name", .members(["stringValue": .string(service)]))
        let version = attribute(
            "service.version",
            .members(["stringValue": .string(ProductVersion.current)])
        )
        let scope = JSONValue.members([
            "name": "entitle", "version": .string(ProductVersion.current),
        ])
        let document = JSONValue.members([
            "resourceSpans": .array([
                .members([
                    "resource": .members(["attributes": .array([resource, version])]),
                    "scopeSpans": .array([
                        .members(["scope": scope, "spans": .array(spans.map(json))])
                    ]),
                ])
            ])
        ])
        return Array(document.description.utf8)
    }

    private static func json(_ span: EndedSpan) -> JSONValue {
        var members = [
            JSONMember("traceId", .string(span.place.traceID)),
            JSONMember("spanId", .string(span.place.spanID)),
        ]
        if let parent = span.parent {
            members.append(JSONMember("parentSpanId", .string(SpanPlace.digits(parent))))
        }
        members += [
            JSONMember("name", .string(span.name)),
            JSONMember("kind", .integer(number(span.kind))),
            JSONMember("startTimeUnixNano", .string(String(span.start))),
            JSONMember("endTimeUnixNano", .string(String(span.end))),
            JSONMember("attributes", .array(attributes(span.attributes))),
            JSONMember("status", .members(span.isFailed ? ["code": .integer(2)] : [:])),
        ]
        return .object(members)
    }

    /// `SpanKind` of OTLP's `trace.proto`.
    private static func number(_ kind: SpanKind) -> Int64 {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    private static func attributes(_ attributes: SpanAttributes) -> [JSONValue] {
        var sent: [JSONValue] = []
        attributes.forEach { key, value in
            guard sentAttributes.contains(Name(key)) else { return }
            switch value {
            case .string(let text):
                sent.append(attribute(key, .members(["stringValue": .string(text)])))
            case .int64(let number):
                sent.append(attribute(key, .members(["intValue": .string(String(number))])))
            default: break
            }
        }
        return sent
    }

    private static func attribute(_ key: String, _ value: JSONValue) -> JSONValue {
        .members(["key": .string(key), "value": value])
    }

    /// Spans that a collector says it did not take; 0: it took all, or says nothing that can be read.
    static func rejected(_ body: [UInt8]) -> Int {
        // An empty answer is a good one.
        let answer = try? JSONValue(parsing: body)
        let count = answer?["partialSuccess"]?["rejectedSpans"]
        return max(0, count?.string.flatMap { Int($0) } ?? count?.integer.map(Int.init) ?? 0)
    }
}
