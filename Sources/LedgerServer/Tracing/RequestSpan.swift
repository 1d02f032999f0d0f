import Encodings
import HTTPTypes
import Hummingbird
import LedgerAPI
import Tracing

extension SpanTracer {
    /// Does what answers a request as a span, a part of what its caller says that it is a part of.
    func continuing<Result>(
        _ request: Request,
        _ body: (RecordedSpan) async -> Result
    ) async -> Result {
        var context = ServiceContext.topLevel
        extract(request.headers, into: &context, using: HeaderReader())
        let span = startSpan("request", context: context, ofKind: .server)
        defer { span.end() }
        return await ServiceContext.withValue(span.context) { await body(span) }
    }
}

/// Reads what a caller says of a trace.
private struct HeaderReader: Extractor {
    func extract(key: String, from headers: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { headers[$0] }
    }
}

extension RecordedSpan {
    /// What only looks at the server: of these no trace begins here.
    private static let looks: Set<Name> = ["health", "readiness", "metrics"]

    /// Says which call it was and what came of it: by its template, never by its path.
    func describe(_ exchange: Exchange, status: Int) {
        let route = exchange.target?.route
        if isRoot, let route, Self.looks.contains(Name(route.operation)) { return drop() }
        operationName = route.map { "\(exchange.method) \($0.template)" } ?? exchange.method
        attributes[SpanDocument.method] = exchange.method
        attributes[SpanDocument.route] = route?.template
        attributes[SpanDocument.operation] = exchange.operation
        attributes[SpanDocument.status] = Int64(status)
        if let code = exchange.problem?.code {
            attributes[SpanDocument.errorType] = code.rawValue
        }
        // That somebody is refused is no fault of the server (OpenTelemetry, "HTTP spans").
        if status >= 500 { setStatus(SpanStatus(code: .error)) }
    }
}
