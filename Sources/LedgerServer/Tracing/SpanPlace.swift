import Tracing

/// Where a span stands among others (W3C Trace Context, section 3.2.2).
struct SpanPlace: Sendable, Equatable {
    /// The trace's number, in two halves; not both 0.
    let trace: (high: UInt64, low: UInt64)
    /// The span's own number; not 0.
    let span: UInt64
    /// Whether it is to be sent to whoever collects spans.
    let isSampled: Bool

    /// Begins a trace.
    init(isSampled: Bool) {
        trace = (.random(in: 1 ... .max), .random(in: 0 ... .max))
        span = .random(in: 1 ... .max)
        self.isSampled = isSampled
    }

    /// A part of another.
    init(within parent: SpanPlace) {
        trace = parent.trace
        span = .random(in: 1 ... .max)
        isSampled = parent.isSampled
    }

    /// What a caller says that its request is a part of; nil: it says nothing that can be read.
    init?(_ parent: TraceParent?) {
        guard let parent, let high = UInt64(parent.trace.prefix(16), radix: 16),
            let low = UInt64(parent.trace.suffix(16), radix: 16),
            let span = UInt64(parent.parent, radix: 16)
        else { return nil }
        trace = (high, low)
        self.span = span
        isSampled = parent.isSampled
    }

    /// The trace's number, 32 digits.
    var traceID: String { Self.digits(trace.high) + Self.digits(trace.low) }
    /// The span's number, 16 digits.
    var spanID: String { Self.digits(span) }
    /// What a request that is a part of it says.
    var traceParent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    static func == (left: SpanPlace, right: SpanPlace) -> Bool {
        left.trace == right.trace && left.span == right.span && left.isSampled == right.isSampled
    }
}

extension ServiceContext {
    private enum PlaceKey: ServiceContextKey {
        typealias Value = SpanPlace
    }

    private enum TracerKey: ServiceContextKey {
        typealias Value = SpanTracer
    }

    /// The span that what is done now is a part of; nil: none.
    var spanPlace: SpanPlace? {
        get { self[PlaceKey.self] }
        set { self[PlaceKey.self] = newValue }
    }

    /// Who makes spans of what is done now; nil: nobody.
    var spanTracer: SpanTracer? {
        get { self[TracerKey.self] }
        set { self[TracerKey.self] = newValue }
    }
}
